#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/atomic_file.h"

namespace springtime {

// NumPy arrays in one file: a ZIP of .npy files, stored without compression. Arrays may be larger
// than memory: the long ones wait in the folder PATH.part until all is packed there.
class NpzFile {
  public:
    NpzFile(const std::filesystem::path& path, bool overwrite);

    // `type` as NumPy writes it: "<f4", "<f8", "<i4".
    void add(const std::string& name, std::string_view type, const std::vector<std::size_t>& shape,
             std::string_view bytes);
    // One whose bytes come in pieces; they have to be as many as the shape says.
    void begin(const std::string& name, std::string_view type,
               const std::vector<std::size_t>& shape);
    void append(const std::string& name, std::string_view bytes);

    void publish();

  private:
    struct Array {
        std::string name, bytes;         // of a short one, with its header
        std::unique_ptr<PartFile> file;  // of a long one
    };

    std::filesystem::path waiting(const std::string& name) const;  // the file of a long array

    std::filesystem::path path_;
    bool overwrite_;
    PartFolder folder_;  // goes with everything in it, also what libzip leaves after a failure
    std::vector<Array> arrays_;
};

// What stands before the numbers in a .npy file of version 1.
std::string npy_header(std::string_view type, const std::vector<std::size_t>& shape);

}  // namespace springtime
