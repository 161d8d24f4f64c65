#include "web/payload.h"

#include <bit>
#include <functional>
#include <numeric>

#include "core/assert.h"

namespace springtime {

namespace {

static_assert(std::endian::native == std::endian::little,
              "payloads are written as memory has them");

constexpr std::string_view kMagic = "SPRTWEB1";
constexpr std::size_t kAlignment = 4;

template <class T>
std::string_view bytes_of(std::span<const T> values)
{
    return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
}

void pad(std::string& text, char with)
{
    text.resize((text.size() + kAlignment - 1) / kAlignment * kAlignment, with);
}

}  // namespace

Payload::Payload(std::string_view kind) : header_(Result::tree()), entries_(Result::tree())
{
    header_.add("kind", kind);
}

template <class T>
void Payload::add_array(const std::string& name, const std::vector<std::size_t>& shape,
                        std::span<const T> values, std::string_view type)
{
    SPRINGTIME_ASSERT(!entries_.find(name));
    SPRINGTIME_ASSERT(std::accumulate(shape.begin(), shape.end(), std::size_t{1},
                                      std::multiplies<>()) == values.size());
    pad(arrays_, '\0');
    Result entry = Result::tree();
    entry.add("type", type);
    entry.add("shape", shape);
    entry.add("offset", arrays_.size());
    entries_.add(name, entry);
    arrays_ += bytes_of(values);
}

void Payload::add(const std::string& name, const std::vector<std::size_t>& shape,
                  std::span<const float> values)
{
    add_array(name, shape, values, "f32");
}

void Payload::add(const std::string& name, const std::vector<std::size_t>& shape,
                  std::span<const std::uint32_t> values)
{
    add_array(name, shape, values, "u32");
}

void Payload::add(const std::string& name, const std::vector<std::size_t>& shape,
                  std::span<const std::uint16_t> values)
{
    add_array(name, shape, values, "u16");
}

void Payload::add(const std::string& name, const std::vector<std::size_t>& shape,
                  std::span<const std::uint8_t> values)
{
    add_array(name, shape, values, "u8");
}

std::string Payload::bytes() const
{
    Result header = header_;
    header.add("arrays", entries_);
    std::string json = to_json(header);
    pad(json, ' ');
    const std::uint32_t length = static_cast<std::uint32_t>(json.size());
    std::string bytes(kMagic);
    bytes += bytes_of(std::span<const std::uint32_t>(&length, 1));
    bytes += json;
    bytes += arrays_;
    return bytes;
}

std::string base64(std::string_view bytes)
{
    constexpr std::string_view kDigits =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string text;
    text.reserve((bytes.size() + 2) / 3 * 4);
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
        std::uint32_t group = 0;
        for (std::size_t k = 0; k < 3; ++k) {
            group = group << 8 | (k < count ? std::uint8_t(bytes[i + k]) : 0U);
        }
        for (std::size_t k = 0; k < 4; ++k) {
            text += k <= count ? kDigits[group >> (18 - 6 * k) & 63] : '=';
        }
    }
    return text;
}

}  // namespace springtime
