// SPDX-License-Identifier: Apache-2.0
#include "sass/elf/lines.hpp"

#include <algorithm>
#include <map>

namespace vgpu::sass {
namespace {

using Bytes = std::span<const std::byte>;

// Reads values in sequence; throws BadCubin at the end of the data.
struct Cursor {
  Bytes bytes;
  std::uint64_t at = 0;

  std::uint8_t u8() { return read8(bytes, at++); }
  std::uint64_t fixed(unsigned size) {
    std::uint64_t value = 0;
    for (unsigned i = 0; i < size; ++i) value |= std::uint64_t{u8()} << 8 * i;
    return value;
  }
  std::uint64_t unsigned_leb() {
    std::uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      const std::uint8_t byte = u8();
      if (shift < 64) value |= std::uint64_t{byte & 0x7fu} << shift;
      if ((byte & 0x80) == 0) return value;
    }
  }
  std::int64_t signed_leb() {
    std::uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      const std::uint8_t byte = u8();
      if (shift < 64) value |= std::uint64_t{byte & 0x7fu} << shift;
      if ((byte & 0x80) != 0) continue;
      if (shift + 7 < 64 && (byte & 0x40) != 0) value |= ~std::uint64_t{0} << (shift + 7);
      return static_cast<std::int64_t>(value);
    }
  }
  std::string_view text() {
    const std::string_view found = read_text(bytes, at);
    at += found.size() + 1;
    return found;
  }
};

class Unit {
 public:
  // `start` maps the position of each relocated sequence address to its offset in the kernel's
  // code.
  Unit(Cursor cursor, std::uint64_t end, const std::map<std::uint64_t, std::uint32_t>& start,
       LineTable& table)
      : in_(cursor), end_(end), start_(start), table_(table) {}

  void run() {
    const std::uint64_t version = in_.fixed(2);
    if (version < 2 || version > 3) return;
    const std::uint64_t length = in_.fixed(4), program = in_.at + length;
    minimum_ = in_.u8();
    in_.u8();                   // whether rows begin statements
    const int base = in_.u8();  // a signed byte
    base_ = base < 128 ? base : base - 256;
    range_ = in_.u8();
    opcodes_ = in_.u8();
    if (range_ == 0 || opcodes_ == 0) return;
    for (unsigned i = 1; i < opcodes_; ++i) arguments_.push_back(in_.u8());
    std::vector<std::string_view> folders = {""};
    while (true) {
      const std::string_view folder = in_.text();
      if (folder.empty()) break;
      folders.push_back(folder);
    }
    files_.push_back(add_file("", ""));
    while (true) {
      const std::string_view name = in_.text();
      if (name.empty()) break;
      const std::uint64_t folder = in_.unsigned_leb();
      in_.unsigned_leb();
      in_.unsigned_leb();
      files_.push_back(add_file(folder < folders.size() ? folders[folder] : "", name));
    }
    in_.at = program;
    while (in_.at < end_) step();
  }

 private:
  std::uint32_t add_file(std::string_view folder, std::string_view name) {
    const bool whole = folder.empty() || name.starts_with('/');
    table_.files.push_back(whole ? std::string(name)
                                 : std::string(folder) + "/" + std::string(name));
    return static_cast<std::uint32_t>(table_.files.size()) - 1;
  }

  void emit() {
    if (!ours_) return;
    const std::uint32_t file = file_ < files_.size() ? files_[file_] : files_[0];
    table_.entries.push_back({address_, file, static_cast<std::uint32_t>(line_)});
  }

  void advance(std::uint64_t by) { address_ += static_cast<std::uint32_t>(by * minimum_); }

  void step() {
    const std::uint8_t opcode = in_.u8();
    if (opcode >= opcodes_) {
      const unsigned adjusted = opcode - opcodes_;
      advance(adjusted / range_);
      line_ += base_ + static_cast<int>(adjusted % range_);
      emit();
      return;
    }
    switch (opcode) {
      case 0: extended(); break;
      case 1: emit(); break;
      case 2: advance(in_.unsigned_leb()); break;
      case 3: line_ += in_.signed_leb(); break;
      case 4: file_ = in_.unsigned_leb(); break;
      case 8: advance((255u - opcodes_) / range_); break;
      case 9: address_ += static_cast<std::uint32_t>(in_.fixed(2)); break;
      default:
        for (unsigned n = arguments_[opcode - 1u]; n > 0; --n) in_.unsigned_leb();
    }
  }

  void extended() {
    const std::uint64_t length = in_.unsigned_leb(), next = in_.at + length;
    if (length == 0 || length > in_.bytes.size()) throw BadCubin("cubin: a bad line program");
    const std::uint8_t opcode = in_.u8();
    if (opcode == 1) {  // end of sequence
      line_ = 0;
      emit();
      file_ = line_ = 1;
      ours_ = false;
    } else if (opcode == 2) {
      const auto found = start_.find(in_.at);
      ours_ = found != start_.end();
      address_ = ours_ ? found->second : 0;
    }
    in_.at = next;
  }

  Cursor in_;
  std::uint64_t end_;
  const std::map<std::uint64_t, std::uint32_t>& start_;
  LineTable& table_;
  unsigned minimum_ = 1, range_ = 1, opcodes_ = 1;
  int base_ = 0;
  std::vector<std::uint8_t> arguments_;
  std::vector<std::uint32_t> files_;
  bool ours_ = false;
  std::uint32_t address_ = 0;
  std::uint64_t file_ = 1;
  std::int64_t line_ = 1;
};

}  // namespace

LineTable read_lines(const Cubin& cubin, const KernelInfo& kernel) {
  LineTable table;
  const Section* const section = cubin.find(".debug_line");
  if (section == nullptr) return table;
  std::map<std::uint64_t, std::uint32_t> start;
  try {
    for (const Relocation& r : cubin.relocations(".debug_line")) {
      const ElfSymbol& symbol = cubin.symbols()[r.symbol];
      if (symbol.section != kernel.section) continue;
      start[r.offset] =
          static_cast<std::uint32_t>(symbol.value + static_cast<std::uint64_t>(r.addend));
    }
    Cursor cursor{section->data};
    while (cursor.at + 4 < section->data.size()) {
      const std::uint64_t length = cursor.fixed(4), begin = cursor.at;
      if (length > section->data.size() - begin) break;
      Unit(cursor, begin + length, start, table).run();
      cursor.at = begin + length;
    }
  } catch (const BadCubin&) {
    return {};
  }
  std::ranges::stable_sort(table.entries, {}, &LineEntry::address);
  return table;
}

const LineEntry* LineTable::find(std::uint32_t address) const {
  const auto after =
      std::upper_bound(entries.begin(), entries.end(), address,
                       [](std::uint32_t a, const LineEntry& e) { return a < e.address; });
  if (after == entries.begin() || (after - 1)->line == 0) return nullptr;
  return &*(after - 1);
}

}  // namespace vgpu::sass
