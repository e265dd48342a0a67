#pragma once

#include <filesystem>
#include <string>

namespace distal::core {

// The on-disk cache: files in a folder of the user. The name of a file contains a hash of everything that its contents
// depend on. Several processes may read and write the cache at once.

// The folder: $DISTAL_CACHE, or else distal/ in the user's cache folder.
std::string cache_folder();

// The same; creates the folder if it does not exist. Throws an Error if other users can write to it, because DISTAL
// loads code from there.
std::filesystem::path safe_cache_folder();

// The contents of a file; empty if there is no such file.
std::string read_text(const std::filesystem::path& path);

// Writes a file under a temporary name and renames it, so that readers see the whole file or none.
void write_atomically(const std::filesystem::path& path, const std::string& text);

// A temporary name next to `final` that no other process or thread uses.
std::filesystem::path unique_name(const std::filesystem::path& final);

// `prefix` and a hash of `content`.
std::string name_by_content(const std::string& prefix, const std::string& content);

// The name, size and modification time of a file. It changes when the file changes.
std::string file_fingerprint(const std::string& file);

// The model and features of this machine's CPU. Machines with different CPUs may share a home folder.
std::string cpu_fingerprint();

}  // namespace distal::core
