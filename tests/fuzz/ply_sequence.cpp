#include "formats/tracks/open_tracks.h"
#include "fuzz.h"

using namespace springtime;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    static fuzz::MemoryFile file("a.ply");
    // Twice the same: first with its faces, then only to the last vertex.
    return fuzz::only_words([&] {
        const auto& path = file.with(fuzz::text_of(data, size));
        fuzz::read_all(*open_mesh_tracks({path, path}));
    });
}
