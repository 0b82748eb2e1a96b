// SPDX-License-Identifier: Apache-2.0
// The cache folder for compiled candidates. Its libraries are loaded into the user's processes, so
// no other user may be able to write to it.
#pragma once
#include <ladder/status.hpp>

#include <filesystem>

namespace ladder::tune {

// Opens `chosen`. If that is empty, opens the first usable of: ladder/tune in XDG_CACHE_HOME (if an
// absolute path), in .cache of HOME, in .cache of the user's home folder according to the system,
// or ladder-UID in the system's temporary folder. Creates it for this user only. Errors (kIo): it
// cannot be created or written, belongs to another user, or other users can write or replace it.
Result<std::filesystem::path> open_cache(const std::filesystem::path& chosen);

// Whether the path is a regular file, not a link, that belongs to this user and that no other user
// can write.
bool is_private(const std::filesystem::path& file);

}  // namespace ladder::tune
