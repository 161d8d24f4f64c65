#include "fuzz.h"
#include "springtime/files.h"

using namespace springtime;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    return fuzz::only_words([&] {
        const Cloth cloth = cloth_from_json(fuzz::text_of(data, size), "cloth.json");
        // What was taken must be written and taken again.
        cloth_from_json(cloth_to_json(cloth), "again");
    });
}
