#include "motion_structure.h"

#include "fuzz.h"
#include "springtime/files.h"

using namespace springtime;

// HDF5 1.10 loses some memory of its own when it refuses a file.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions()
{
    return "leak:libhdf5\n";
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    static fuzz::MemoryFile file("motion.h5");
    fuzz::Choices choices(fuzz::text_of(data, size));
    fuzz::MotionMaker maker(choices);
    const auto& path = file.with({});
    maker.make(path.string());
    return fuzz::only_words([&] {
        const MotionReader reader(path);
        for (std::size_t r = 0; r < reader.rollout_count(); ++r) reader.read(r);
        if (maker.needs_other_files()) std::abort();
    });
}
