#include "fuzz.h"
#include "springtime/files.h"

using namespace springtime;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    static fuzz::MemoryFile table("map.csv"), image("map.png");
    const std::string_view bytes = fuzz::text_of(data, size);
    const bool picture = bytes.starts_with("\x89");
    const std::string path = (picture ? image : table).with(bytes).string();
    return fuzz::only_words([&] { read_material("map " + path + (picture ? " 1-2" : "")); });
}
