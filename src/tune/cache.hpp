// SPDX-License-Identifier: Apache-2.0
// The folder of compiled candidates. Libraries in it are loaded into a process of the user's, so
// that nobody else may be able to put one there.
#pragma once
#include <ladder/status.hpp>

#include <filesystem>

namespace ladder::tune {

// `chosen`, or where that is empty ladder/tune in XDG_CACHE_HOME if that is an absolute path; else
// in .cache of HOME, then of the home folder that the system knows, then ladder-UID in the system's
// folder for temporary files, whichever is the first that can be used. Created for this user alone.
// Errors (kIo): it cannot be created or written, belongs to somebody else, or others can write it
// or replace it.
Result<std::filesystem::path> open_cache(const std::filesystem::path& chosen);

// Whether the path is a regular file, no link, that belongs to this user and that nobody else can
// write.
bool is_private(const std::filesystem::path& file);

}  // namespace ladder::tune
