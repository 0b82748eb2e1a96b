// SPDX-License-Identifier: Apache-2.0
// All access to the user's files goes through these functions.
#pragma once
#include <ladder/status.hpp>

#include <string>
#include <string_view>

namespace ladder {

// Returns the whole file or an error (kIo), never a part of it.
Result<std::string> read_file(const std::string& path);

// Writes a regular file atomically: it writes and synchronises a temporary file in the same folder
// and renames it. A reader, a crash or a full disk therefore never leaves a partial or empty file.
// Keeps the file's mode, owner and symbolic links. Pipes, character devices and open descriptors
// (/dev/stdout, /dev/fd/N) are written directly. Errors (kIo) name the path.
Status write_atomic(const std::string& path, std::string_view text);

// Ok if write_atomic could write there now. Errors (kIo): the folder does not exist, the path is a
// folder or a disk, permission is denied.
Status check_writable(const std::string& path);

// Writes the whole text to an open descriptor. False if that fails; errno says why.
bool write_all(int descriptor, std::string_view text);

// True if a second write replaces the first one: false for pipes, devices and open descriptors.
bool is_replaced(const std::string& path);

}  // namespace ladder
