#include <algorithm>
#include <cmath>
#include <fstream>

#include "core/atomic_file.h"
#include "core/text.h"
#include "formats/cloth_json.h"
#include "formats/hdf5_reading.h"
#include "formats/motion_file.h"
#include "springtime/error.h"
#include "springtime/files.h"

namespace springtime {

namespace fs = std::filesystem;
using hdf5::Handle;
using hdf5::Item;
using hdf5::Session;
using namespace motion_file;

namespace {

// Looks at the first characters only: a large foreign file need not be read to be refused.
bool starts_as_object(const fs::path& path)
{
    std::ifstream file(path, std::ios::binary);
    std::string start(kByteOrderMark.size(), '\0');
    file.read(start.data(), std::streamsize(start.size()));
    if (start != kByteOrderMark) {
        file.clear();
        file.seekg(0);
    }
    char first = 0;
    return file >> first && first == '{';
}

// Tells what stands in the way of opening a motion file, as precisely as its bytes allow.
[[noreturn]] void fail_open(const fs::path& path, const std::string& reason)
{
    std::error_code ignored;
    const std::uintmax_t bytes = fs::file_size(path, ignored);
    if (reason.starts_with("truncated file")) {
        throw Error("{}: HDF5 file cut short at {} bytes; copy it or make it again", path.string(),
                    bytes);
    }
    hdf5::fail_read(path.string());
}

// Of a source that has been checked.
Handle open_file(const fs::path& path)
{
    std::error_code ignored;
    if (fs::file_size(path, ignored) == 0) {
        throw Error("{}: is empty; a motion file is needed, make it again", path.string());
    }
    const htri_t is_hdf5 = H5Fis_hdf5(path.c_str());
    if (is_hdf5 < 0) hdf5::fail_read(path.string());
    if (is_hdf5 == 0) {
        throw Error("{}: is not an HDF5 file; a motion file is needed (docs/formats.md)",
                    path.string());
    }
    const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
    H5Pset_file_locking(access.id(), true, true);
    Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access.id()), H5Fclose);
    if (!file.valid()) fail_open(path, hdf5::innermost_message());
    return file;
}

bool has_motion_format(hid_t file, std::uintmax_t file_bytes, std::string_view source)
{
    if (!hdf5::attribute_exists(file, "format", source)) return false;
    const Item format = hdf5::open_attribute(file, "format", source);
    return format.type_class() == H5T_STRING && format.value_count() == 1 &&
           hdf5::read_text(format, file_bytes) == kFormat;
}

// Reads a file from its root: the header and the texts beside it.
struct HeaderReader {
    hid_t file;
    std::uintmax_t file_bytes;
    std::string source;

    bool has(const char* name) const { return hdf5::attribute_exists(file, name, source); }
    Item attribute(const char* name) const { return hdf5::open_attribute(file, name, source); }
    double real(const char* name) const { return hdf5::read_reals<1>(attribute(name))[0]; }
    Vec3d vector(const char* name) const
    {
        const auto [x, y, z] = hdf5::read_reals<3>(attribute(name));
        return {x, y, z};
    }
    int integer(const char* name, int least) const
    {
        const std::int64_t value = hdf5::read_integer(attribute(name));
        if (value < least || value > std::numeric_limits<int>::max()) {
            throw Error("{}: attribute '{}' is {}; {} to {} is needed", source, name, value, least,
                        std::numeric_limits<int>::max());
        }
        return static_cast<int>(value);
    }
    std::string text_dataset(const std::string& name) const
    {
        if (!hdf5::link_exists(file, name, source)) return {};
        const Item item = hdf5::open_dataset(file, name, fmt::format("{}: /{}", source, name));
        hdf5::check_stored(item, file_bytes);
        return hdf5::read_text(item, file_bytes);
    }

    int version() const
    {
        if (!has_motion_format(file, file_bytes, source)) {
            throw Error(
                "{}: HDF5 file without the attribute format = \"{}\"; a motion file is "
                "needed (docs/formats.md)",
                source, kFormat);
        }
        const int found = integer("version", 1);
        if (found > kFileVersion) {
            throw Error(
                "{}: motion file version {}, but springtime {} reads version {};"
                " update springtime",
                source, found, kVersion, kFileVersion);
        }
        return found;
    }

    void check_units() const
    {
        const std::string units = hdf5::read_text(attribute("units"), file_bytes);
        if (units == kUnits) return;
        throw Error("{}: attribute 'units' is \"{}\"; convert all numbers to \"{}\"", source, units,
                    kUnits);
    }

    std::vector<SheetPoint> rest() const
    {
        const Item item = hdf5::open_dataset(file, "rest", source + ": /rest");
        hdf5::check_class(item, {H5T_FLOAT}, "floating-point");
        const std::vector<hsize_t> shape = item.shape();
        if (shape.size() != 2 || shape[0] == 0 || shape[0] > kMostPerAxis || shape[1] != 2) {
            throw Error("{} has shape {}; landmarks x 2 is needed", item.label,
                        hdf5::shape_text(shape));
        }
        hdf5::check_stored(item, file_bytes);
        std::vector<SheetPoint> points(shape[0]);
        item.read(H5T_NATIVE_DOUBLE, points.data());
        return points;
    }

    MotionHeader header() const
    {
        check_units();
        MotionHeader header;
        header.sheet = {real("sheet_length"), real("sheet_width"), real("mass")};
        header.dt = real("dt");
        header.stride = integer("stride", 1);
        header.environment = {vector("gravity"), real("drag"), vector("wind")};
        if (has("seed")) {
            const Item seed = attribute("seed");
            hdf5::read_integer(seed);  // for its checks: an integer, and one
            seed.read(H5T_NATIVE_UINT64, &header.seed);
        }
        if (has("rollouts_planned")) header.rollouts_planned = integer("rollouts_planned", 0);
        if (has("contact")) header.contact = integer("contact", 0) != 0;
        if (has("gaps")) header.gaps = integer("gaps", 0) != 0;
        if (has("captured")) header.captured = integer("captured", 0) != 0;
        header.rest = rest();
        header.config = text_dataset("config");
        header.source_cloth = text_dataset("source_cloth");
        check_header(header, source);
        return header;
    }
};

// How many rollouts the file has; their names count from zero without gaps.
std::size_t count_rollouts(hid_t file, std::string_view source)
{
    const std::string label = fmt::format("{}: /rollouts", source);
    if (!hdf5::link_exists(file, "rollouts", source)) {
        throw Error("{}: no rollouts; a motion file needs /rollouts/000000 at least", source);
    }
    const Handle group = hdf5::open_group(file, "rollouts", label);
    H5G_info_t info;
    if (H5Gget_info(group.id(), &info) < 0) hdf5::fail_read(label);
    if (info.nlinks == 0) {
        throw Error("{}: no rollouts; a motion file needs /rollouts/000000 at least", source);
    }
    return info.nlinks;
}

}  // namespace

struct MotionReader::Impl {
    std::string source;
    std::uintmax_t file_bytes = 0;
    Handle file;
    int version = 0;
    MotionHeader header;
    std::vector<std::size_t> frame_counts;

    std::size_t row() const { return header.landmark_count() * 3; }
    std::string label(std::size_t rollout) const
    {
        return fmt::format("{}: {}", source, rollout_name(rollout));
    }
    Handle open_rollout(std::size_t rollout) const;
    Item open_frames(hid_t group, const char* name, std::size_t rollout) const;
    // Notes in the header when the rollout has no velocities.
    std::size_t checked_frame_count(std::size_t rollout);
    void check_rollout_index(std::size_t rollout) const;
    std::vector<float> read_frames(hid_t group, const char* name, std::size_t rollout,
                                   std::size_t first, std::size_t count) const;
    bool has_frames(hid_t group, const char* name, std::size_t rollout) const
    {
        return hdf5::link_exists(group, name, label(rollout));
    }
    Handles read_handles(hid_t group, std::size_t rollout) const;
};

Handle MotionReader::Impl::open_rollout(std::size_t rollout) const
{
    const std::string all = source + ": /rollouts", name = rollout_number(rollout);
    if (!hdf5::link_exists(file.id(), "rollouts", source)) throw Error("{} has gone", all);
    const Handle rollouts = hdf5::open_group(file.id(), "rollouts", all);
    if (!hdf5::link_exists(rollouts.id(), name, all)) {
        throw Error("{} is missing; name rollouts 000000, 000001 and so on, without gaps",
                    label(rollout));
    }
    return hdf5::open_group(rollouts.id(), name, label(rollout));
}

// Opens position, velocity or acceleration; the shape is frames x landmarks x 3.
Item MotionReader::Impl::open_frames(hid_t group, const char* name, std::size_t rollout) const
{
    Item item = hdf5::open_dataset(group, name, fmt::format("{}/{}", label(rollout), name));
    hdf5::check_class(item, {H5T_FLOAT}, "floating-point");
    const std::vector<hsize_t> shape = item.shape();
    if (shape.size() != 3 || shape[0] == 0 || shape[0] > kMostPerAxis ||
        shape[1] != header.landmark_count() || shape[2] != 3) {
        throw Error("{} has shape {}, but /rest has {} landmarks; frames x {} x 3 is needed",
                    item.label, hdf5::shape_text(shape), header.landmark_count(),
                    header.landmark_count());
    }
    return item;
}

std::size_t MotionReader::Impl::checked_frame_count(std::size_t rollout)
{
    const Handle group = open_rollout(rollout);
    const Item position = open_frames(group.id(), "position", rollout);
    hdf5::check_stored(position, file_bytes);
    const std::size_t frames = position.shape()[0];
    for (const char* name : {"velocity", "acceleration"}) {
        if (!has_frames(group.id(), name, rollout)) continue;
        const Item item = open_frames(group.id(), name, rollout);
        hdf5::check_stored(item, file_bytes);
        if (item.shape()[0] == frames) continue;
        throw Error("{} has {} frames, but position has {}; store both for every frame", item.label,
                    item.shape()[0], frames);
    }
    if (has_frames(group.id(), "velocity", rollout)) return frames;
    header.velocities = false;
    if (frames < 2) {
        throw Error("{} has one frame and no velocity; store velocity or more frames",
                    label(rollout));
    }
    return frames;
}

void MotionReader::Impl::check_rollout_index(std::size_t rollout) const
{
    if (rollout < frame_counts.size()) return;
    throw Error("{}: rollout {} asked for, but it has 0 to {}", source, rollout,
                frame_counts.size() - 1);
}

std::vector<float> MotionReader::Impl::read_frames(hid_t group, const char* name,
                                                   std::size_t rollout, std::size_t first,
                                                   std::size_t count) const
{
    const Item item = open_frames(group, name, rollout);
    const std::array<hsize_t, 3> start{first, 0, 0}, size{count, header.landmark_count(), 3};
    std::vector<float> values(count * row());
    const Handle memory = hdf5::make_space({size.begin(), size.end()});
    if (H5Sselect_hyperslab(item.space.id(), H5S_SELECT_SET, start.data(), nullptr, size.data(),
                            nullptr) < 0 ||
        H5Dread(item.id.id(), H5T_NATIVE_FLOAT, memory.id(), item.space.id(), H5P_DEFAULT,
                values.data()) < 0) {
        hdf5::fail_read(item.label);
    }
    check_finite(values, name, header.landmark_count(), rollout, first, source, header.gaps);
    return values;
}

Handles MotionReader::Impl::read_handles(hid_t group, std::size_t rollout) const
{
    Handles handles;
    if (!hdf5::link_exists(group, "handles", label(rollout))) return handles;
    const auto open = [&](const char* name, H5T_class_t type, std::string_view needed) {
        Item item = hdf5::open_dataset(group, name, fmt::format("{}/{}", label(rollout), name));
        hdf5::check_class(item, {type}, needed);
        hdf5::check_stored(item, file_bytes);
        return item;
    };
    const auto check_shape = [](const Item& item, bool good, std::string_view needed) {
        if (good) return;
        throw Error("{} has shape {}; {} is needed", item.label, hdf5::shape_text(item.shape()),
                    needed);
    };
    const Item particles = open("handles", H5T_INTEGER, "integer");
    check_shape(particles,
                particles.shape().size() == 1 && particles.shape()[0] <= header.landmark_count(),
                "one landmark index per handle");
    handles.particles.resize(particles.value_count());
    particles.read(H5T_NATIVE_INT, handles.particles.data());
    if (hdf5::link_exists(group, "handle_time", label(rollout))) {
        const Item time = open("handle_time", H5T_FLOAT, "floating-point");
        check_shape(time, time.shape().size() == 1, "one time per key");
        handles.key_time.resize(time.value_count());
        time.read(H5T_NATIVE_DOUBLE, handles.key_time.data());
        const Item path = open("handle_position", H5T_FLOAT, "floating-point");
        const std::vector<hsize_t> shape{handles.key_time.size(), handles.particles.size(), 3};
        check_shape(path, path.shape() == shape, hdf5::shape_text(shape));
        handles.key_position.resize(shape[0] * shape[1]);
        path.read(H5T_NATIVE_DOUBLE, handles.key_position.data());
    }
    check_handles(handles, header.landmark_count(), label(rollout));
    return handles;
}

MotionReader::MotionReader() : impl_(std::make_unique<Impl>()) {}

MotionReader::MotionReader(const fs::path& path) : MotionReader()
{
    check_source(path);
    open(path);
}

std::optional<MotionReader> MotionReader::open_part(const fs::path& part)
{
    MotionReader reader;
    try {
        reader.open(part);
    } catch (const Error&) {
        return std::nullopt;
    }
    return reader;
}

void MotionReader::open(const fs::path& path)
{
    const Session session;
    impl_->source = path.string();
    impl_->file = open_file(path);
    impl_->file_bytes = fs::file_size(path);
    const HeaderReader reader{impl_->file.id(), impl_->file_bytes, impl_->source};
    impl_->version = reader.version();
    impl_->header = reader.header();
    const std::size_t count = count_rollouts(impl_->file.id(), impl_->source);
    // All shapes now: better than to find a bad rollout after hours of learning.
    for (std::size_t r = 0; r < count; ++r) {
        impl_->frame_counts.push_back(impl_->checked_frame_count(r));
    }
}

MotionReader::~MotionReader() = default;
MotionReader::MotionReader(MotionReader&&) noexcept = default;
MotionReader& MotionReader::operator=(MotionReader&&) noexcept = default;

const MotionHeader& MotionReader::header() const
{
    return impl_->header;
}

int MotionReader::version() const
{
    return impl_->version;
}

std::size_t MotionReader::rollout_count() const
{
    return impl_->frame_counts.size();
}

std::size_t MotionReader::frame_count(std::size_t rollout) const
{
    impl_->check_rollout_index(rollout);
    return impl_->frame_counts[rollout];
}

Rollout MotionReader::read(std::size_t rollout) const
{
    return read(rollout, 0, frame_count(rollout));
}

Rollout MotionReader::read(std::size_t rollout, std::size_t first, std::size_t count) const
{
    const std::size_t frames = frame_count(rollout);
    if (count == 0 || first >= frames || count > frames - first) {
        throw Error("{}: rollout {}: {} frames from frame {} asked for, but it has {}",
                    impl_->source, rollout, count, first, frames);
    }
    const Session session;
    const Handle group = impl_->open_rollout(rollout);
    const auto frames_of = [&](const char* name) {
        return impl_->read_frames(group.id(), name, rollout, first, count);
    };
    Rollout part;
    part.frame_count = count;
    part.position = frames_of("position");
    const auto frames_if_any = [&](const char* name) {
        return impl_->has_frames(group.id(), name, rollout) ? frames_of(name)
                                                            : std::vector<float>{};
    };
    part.velocity = frames_if_any("velocity");
    part.acceleration = frames_if_any("acceleration");
    part.handles = impl_->read_handles(group.id(), rollout);
    for (double& time : part.handles.key_time) {
        time -= first * impl_->header.frame_interval();
    }
    return part;
}

Motion open_motion(const fs::path& path)
{
    const auto reader = std::make_shared<const MotionReader>(path);
    Motion motion;
    motion.header = reader->header();
    motion.source = MotionSource{fs::absolute(path).string(), {}};
    for (std::size_t r = 0; r < reader->rollout_count(); ++r) {
        motion.source->rollouts.push_back(r);
        motion.frame_counts.push_back(reader->frame_count(r));
    }
    motion.read = [reader](std::size_t rollout, std::size_t first, std::size_t count) {
        return reader->read(rollout, first, count);
    };
    return motion;
}

bool motion_file::is_hdf5(const fs::path& path)
{
    check_source(path);
    const Session session;
    return H5Fis_hdf5(path.c_str()) > 0;
}

FileKind file_kind(const fs::path& path)
{
    if (motion_file::is_hdf5(path)) {
        const Session session;
        const Handle file = open_file(path);
        const HeaderReader reader{file.id(), fs::file_size(path), path.string()};
        reader.version();
        return FileKind::motion;
    }
    if (starts_as_object(path) && is_cloth_text(read_text(path), path.string())) {
        return FileKind::cloth;
    }
    throw Error("{}: neither a cloth file nor a motion file; docs/formats.md describes both",
                path.string());
}

}  // namespace springtime
