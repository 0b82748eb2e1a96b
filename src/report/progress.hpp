// SPDX-License-Identifier: Apache-2.0
// Progress of a long job and an estimate of the remaining time, from the times of finished items.
#pragma once
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace ladder {

class Progress {
 public:
  using Seconds = std::chrono::duration<double>;

  // Adds an item. Items of one group take about the same time per unit of weight. Weight 0 takes no
  // time.
  void expect(const std::string& group, double weight = 1);
  // Items run in the order of expect(); each starts when the previous one is finished.
  void within(double fraction, Seconds elapsed);  // of the current item, from 0 to 1
  void finish_item(Seconds elapsed);

  // nullopt until every remaining group has an item that is finished or half finished.
  std::optional<Seconds> left() const;
  // "7 of 48, about 2 min left"; without the time if it is unknown.
  std::string text() const;

 private:
  struct Group {
    std::string name;
    double weight = 0, done = 0, seconds = 0;  // of all items; of the finished ones
    bool known = false;                        // an item with non-zero weight is finished
  };
  struct Item {
    std::size_t group;
    double weight;
  };
  std::vector<Group> groups_;
  std::vector<Item> items_;
  std::size_t at_ = 0;
  double fraction_ = 0, item_seconds_ = 0;  // of the current item
};

// "about 40 s", "about 2 min", "about 1 h 10 min": rounded to the precision of an estimate.
std::string about(Progress::Seconds seconds);

}  // namespace ladder
