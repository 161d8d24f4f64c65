#include "formats/tracks/open_tracks.h"
#include "fuzz.h"

using namespace springtime;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    // The first byte says how columns are to be taken.
    static constexpr const char* kLayouts[] = {"auto", "wide", "long", "blocks"};
    static fuzz::MemoryFile file("a.csv");
    if (size == 0) return 0;
    return fuzz::only_words([&] {
        TrackHints hints;
        hints.layout = kLayouts[data[0] % 4];
        hints.poses = (data[0] & 4) != 0;
        hints.with_velocities = (data[0] & 8) != 0;
        fuzz::read_all(*open_csv_tracks(file.with(fuzz::text_of(data + 1, size - 1)), hints));
    });
}
