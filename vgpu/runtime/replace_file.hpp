// SPDX-License-Identifier: Apache-2.0
// Writes files so that nothing that exists is lost: a new file takes the place of the former one
// when it is whole.
#pragma once
#include <sys/types.h>

#include <string>
#include <string_view>

namespace vgpu {

// Follows symbolic links, because the target of a link is replaced, not the link.
std::string real_path(const std::string& name);

// Returns "", or the reason why a file of that name cannot be created or replaced.
std::string check_writable(const std::string& name);

// Returns 0 or an error number. A write beyond the limit of a file's size is an error, not a
// signal.
int write_at(int file, std::string_view text, off_t at);

// Returns "" or an error message. If there is an error, the file is as it was.
std::string replace_file(const std::string& name, std::string_view text);

}  // namespace vgpu
