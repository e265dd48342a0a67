#pragma once

#include <filesystem>
#include <string>

namespace distal::core {

// What is kept between runs: files in a folder of the user's own, each named by what it depends on. Several processes
// may look and write at once.

// The folder: $DISTAL_CACHE, or else distal/ in the user's cache folder.
std::string cache_folder();

// The same, made if need be. Code is loaded from there, so it is refused where others can write to it.
std::filesystem::path safe_cache_folder();

// Empty if there is no such file.
std::string read_text(const std::filesystem::path& path);

// Written under a name of its own, then renamed: whoever looks sees the whole file or none.
void write_atomically(const std::filesystem::path& path, const std::string& text);

// A name beside the final one that nobody else has.
std::filesystem::path unique_name(const std::filesystem::path& final);

// A file's name by what it depends on.
std::string name_by_content(const std::string& prefix, const std::string& content);

// A file as it is now: its name, size and time.
std::string file_fingerprint(const std::string& file);

// The kind of this machine's processors: a home folder may be shared between machines.
std::string cpu_fingerprint();

}  // namespace distal::core
