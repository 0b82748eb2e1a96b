// SPDX-License-Identifier: Apache-2.0
// How much of a long job is done and how long the rest will take, by the time that its items took
// so far.
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

  // An item to come. Items of one group take about equally long per unit of weight. Weight 0: takes
  // no time.
  void expect(const std::string& group, double weight = 1);
  // The items in the order of expect(): one starts when the one before it is finished.
  void within(double fraction, Seconds elapsed);  // of the item under way, from 0 to 1
  void finish_item(Seconds elapsed);

  // None until an item of every group that is left has been finished, or half finished.
  std::optional<Seconds> left() const;
  // "7 of 48, about 2 min left"; without the time while it is unknown.
  std::string text() const;

 private:
  struct Group {
    std::string name;
    double weight = 0, done = 0, seconds = 0;  // of all items; of the finished ones
    bool known = false;                        // an item with weight is finished
  };
  struct Item {
    std::size_t group;
    double weight;
  };
  std::vector<Group> groups_;
  std::vector<Item> items_;
  std::size_t at_ = 0;
  double fraction_ = 0, item_seconds_ = 0;  // of the item under way
};

// "about 40 s", "about 2 min", "about 1 h 10 min": as exact as an estimate can be.
std::string about(Progress::Seconds seconds);

}  // namespace ladder
