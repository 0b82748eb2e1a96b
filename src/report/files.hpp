// SPDX-License-Identifier: Apache-2.0
// Every file of the user's is read and written by these.
#pragma once
#include <ladder/status.hpp>

#include <string>
#include <string_view>

namespace ladder {

// All of it or an error (kIo), never what could be read of it.
Result<std::string> read_file(const std::string& path);

// Writes a regular file in one step: a temporary file in its folder, synchronized, takes its place,
// so that a reader, a crash or a full disk never leaves half of it or nothing. Keeps the file's
// mode, owner and symbolic links. A pipe, a character device or an open descriptor (/dev/stdout,
// /dev/fd/N) is written to as it is. Errors (kIo) name the path.
Status write_atomic(const std::string& path, std::string_view text);

// Ok if write_atomic could write there now. Errors (kIo): no such folder, a folder, a disk, no
// permission.
Status check_writable(const std::string& path);

// Whether writing again replaces what was written before: false for pipes, devices and open
// descriptors.
bool is_replaced(const std::string& path);

}  // namespace ladder
