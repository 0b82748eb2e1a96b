// SPDX-License-Identifier: Apache-2.0
// Launches whose results are known. A launch that occurs again is executed once more while its
// touched memory is noted. When it comes again and this memory holds what it held then, the memory
// is made what the launch would make of it, and the launch does not run. All functions are called
// with the runtime's lock held.
#pragma once
#include <array>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/engine.hpp"
#include "memory/memory_effect.hpp"

namespace vgpu::runtime {

class KnownLaunches {
 public:
  explicit KnownLaunches(Memory& memory) : memory_(memory) {}

  std::uint64_t reused() const { return reused_; }  // number of launches that did not run
  void host_function_ends();
  // A moment of the device's memory, 0 if its changes are not noted.
  std::uint64_t moment();
  bool may_have_changed(std::uint64_t moment, std::uint64_t address, std::size_t bytes) const;

 private:
  friend class LaunchTurn;

  // A launch that was executed with its memory noted.
  struct Known {
    std::uint64_t hash = 0;
    std::string key;
    std::shared_ptr<const TextureObjects> textures;
    MemoryEffect effect;
    LaunchReport report;
    std::vector<Found> found;
    std::uint64_t clocks = 0;  // from its begin to its end
  };
  // What happened to launches with this hash of their key, or of the key without parameters.
  // Several may share an entry, and only the last one has it.
  struct History {
    std::uint64_t hash = 0;
    std::uint64_t executed = 0;  // since one was reused
  };
  bool repeat(const std::string& key, std::uint64_t hash, std::uint64_t alike,
              const LaunchConfig& config, LaunchReport& report, std::vector<Found>& found);
  History& history_of(std::uint64_t hash);
  void keep(Known launch);
  std::size_t most_bytes();  // that all effects may take

  Memory& memory_;
  std::list<Known> known_;                  // the one used last is first
  std::size_t bytes_ = 0, most_bytes_ = 0;  // of all effects; 0: not known yet
  std::array<History, 4096> histories_{};
  unsigned running_ = 0;  // launches that were begun and have not ended
  std::uint64_t reused_ = 0;
};

// The time of one launch.
class LaunchTurn {
 public:
  // `may_repeat`: whether the launch may be reused, as far as the runtime knows.
  LaunchTurn(KnownLaunches& launches, const Kernel& kernel, LaunchConfig& config,
             std::span<const std::byte> params, bool may_repeat);
  ~LaunchTurn();
  LaunchTurn(const LaunchTurn&) = delete;
  LaunchTurn& operator=(const LaunchTurn&) = delete;

  // If the result is known, stores it. Otherwise the launch must be executed.
  bool repeat(LaunchReport& report, std::vector<Found>& found);
  // Without a fault.
  void executed(const LaunchReport& report, const std::vector<Found>& found);

 private:
  KnownLaunches& launches_;
  LaunchConfig& config_;
  Changes* changes_ = nullptr;
  std::string key_;  // "" if the launch is not reused
  std::uint64_t hash_ = 0, begin_ = 0;
  std::uint64_t alike_ = 0;  // the hash without parameters
  std::optional<TouchedMemory> touched_;
  bool writes_ = false, noted_ = false;
};

}  // namespace vgpu::runtime
