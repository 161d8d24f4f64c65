#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "springtime/report.h"

// What a page of ours is told: a header of named values, and arrays of numbers. The page reads it
// in viewer/src/shared/payload.ts. All is little-endian:
//   8 bytes   the magic SPRTWEB1
//   4 bytes   the length of the header, as an unsigned integer
//   header    JSON, padded with spaces to a multiple of 4; `arrays` says of each array its type,
//             its shape, and its offset in bytes from the start of the arrays
//   arrays    each at a multiple of 4
namespace springtime {

class Payload {
  public:
    explicit Payload(std::string_view kind);  // report or live

    Result& header() { return header_; }
    const Result& header() const { return header_; }

    // Adds an array; its name must be new and the shape must hold all values.
    void add(const std::string& name, const std::vector<std::size_t>& shape,
             std::span<const float> values);
    void add(const std::string& name, const std::vector<std::size_t>& shape,
             std::span<const std::uint32_t> values);
    void add(const std::string& name, const std::vector<std::size_t>& shape,
             std::span<const std::uint16_t> values);
    void add(const std::string& name, const std::vector<std::size_t>& shape,
             std::span<const std::uint8_t> values);

    std::size_t array_bytes() const { return arrays_.size(); }
    std::string bytes() const;

  private:
    template <class T>
    void add_array(const std::string& name, const std::vector<std::size_t>& shape,
                   std::span<const T> values, std::string_view type);

    Result header_, entries_;
    std::string arrays_;
};

// RFC 4648, with padding. No character of it can end an element of HTML.
std::string base64(std::string_view bytes);

}  // namespace springtime
