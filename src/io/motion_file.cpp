#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <span>

#include "io/cloth_json.h"
#include "io/hdf5.h"
#include "io/text_file.h"
#include "springtime/error.h"
#include "springtime/files.h"
#include "springtime/version.h"

namespace springtime {

namespace fs = std::filesystem;
using hdf5::Handle;
using hdf5::Item;
using hdf5::Session;

namespace {

constexpr std::string_view kFormat = "springtime-motion";
constexpr std::string_view kUnits = "m, kg, s, N";
constexpr int kMotionVersion = 1;
// Large enough that a seek costs little beside it, small enough that one clip reads little more
// than its own frames.
constexpr hsize_t kChunkBytes = 256 * 1024;
// Landmarks are int32 in /handles; the same bound on frames keeps every product below 2^64.
constexpr hsize_t kMostPerAxis = std::numeric_limits<std::int32_t>::max();

// Looks at the first character only: a large foreign file need not be read to be refused.
bool starts_as_object(const fs::path& path)
{
    std::ifstream file(path, std::ios::binary);
    char first = 0;
    return file >> first && first == '{';
}

std::string rollout_name(std::size_t rollout)
{
    return fmt::format("/rollouts/{:06}", rollout);
}

// The loops have no early exit and the inner one a fixed length, so that compilers vectorise it.
bool all_finite(std::span<const float> values)
{
    constexpr std::uint32_t kExponent = 0x7f800000;  // all ones for infinities and NaN
    constexpr std::size_t kBlock = 1024;
    std::uint32_t bad = 0;
    const auto look_at = [&](float value) {
        bad |= (std::bit_cast<std::uint32_t>(value) & kExponent) == kExponent ? 1u : 0u;
    };
    std::size_t i = 0;
    for (; i + kBlock <= values.size(); i += kBlock) {
        for (std::size_t j = 0; j < kBlock; ++j) {
            look_at(values[i + j]);
        }
    }
    for (; i < values.size(); ++i) {
        look_at(values[i]);
    }
    return bad == 0;
}

// Throws Error naming the first value that is not finite. `first_frame` is that of values[0].
void check_finite(std::span<const float> values, std::string_view what, std::size_t landmarks,
                  std::size_t rollout, std::size_t first_frame, std::string_view source)
{
    if (all_finite(values)) return;
    const auto bad = std::find_if_not(values.begin(), values.end(),
                                      [](float value) { return std::isfinite(value); });
    const std::size_t point = (bad - values.begin()) / 3;
    throw Error(
        "{}: rollout {}, frame {}, landmark {}: {} {} is not finite; a motion file holds finite"
        " numbers only, leave such a rollout out",
        source, rollout, first_frame + point / landmarks, point % landmarks, what, *bad);
}

bool positive(double value)
{
    return std::isfinite(value) && value > 0;
}

bool finite(const Vec3d& v)
{
    return std::isfinite(v.x) && std::isfinite(v.y) && std::isfinite(v.z);
}

void check_header(const MotionHeader& header, std::string_view source)
{
    const Sheet& sheet = header.sheet;
    if (!positive(sheet.length) || !positive(sheet.width) || !positive(sheet.mass)) {
        throw Error("{}: sheet_length {} m, sheet_width {} m, mass {} kg; all must be positive",
                    source, sheet.length, sheet.width, sheet.mass);
    }
    if (!positive(header.dt) || header.stride < 1) {
        throw Error("{}: dt {} s, stride {}; dt must be positive and stride at least 1", source,
                    header.dt, header.stride);
    }
    const Environment& air = header.environment;
    if (!finite(air.gravity) || !finite(air.wind) || !std::isfinite(air.drag) || air.drag < 0) {
        throw Error("{}: gravity, wind and drag must be finite, and drag {} not negative", source,
                    air.drag);
    }
    if (header.rest.empty()) throw Error("{}: /rest holds no landmark; one is needed", source);
    for (std::size_t i = 0; i < header.rest.size(); ++i) {
        if (std::isfinite(header.rest[i].u) && std::isfinite(header.rest[i].v)) continue;
        throw Error("{}: /rest of landmark {} is not finite; give its place in the flat sheet",
                    source, i);
    }
}

// ---- Writing

void write_text_attribute(hid_t object, const char* name, std::string_view text,
                          std::string_view source)
{
    const Handle type = hdf5::text_type(text.size());
    hdf5::write_attribute(object, name, type.id(), type.id(), {}, text.data(), source);
}

void write_real_attribute(hid_t object, const char* name, double value, std::string_view source)
{
    hdf5::write_attribute(object, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, {}, &value, source);
}

void write_vector_attribute(hid_t object, const char* name, const Vec3d& value,
                            std::string_view source)
{
    hdf5::write_attribute(object, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, {3}, &value.x, source);
}

void write_int_attribute(hid_t object, const char* name, int value, std::string_view source)
{
    hdf5::write_attribute(object, name, H5T_STD_I32LE, H5T_NATIVE_INT, {}, &value, source);
}

void write_text_dataset(hid_t file, const char* name, const std::string& text,
                        std::string_view source)
{
    if (text.empty()) return;
    const Handle type = hdf5::text_type(text.size());
    hdf5::write_dataset(file, name, type.id(), type.id(), {}, {}, text.data(), source);
}

void write_header(hid_t file, const MotionHeader& header, std::string_view source)
{
    static_assert(sizeof(SheetPoint) == 2 * sizeof(double));
    write_text_attribute(file, "format", kFormat, source);
    write_int_attribute(file, "version", kMotionVersion, source);
    write_text_attribute(file, "units", kUnits, source);
    write_text_attribute(file, "generator", fmt::format("springtime {}", kVersion), source);
    write_real_attribute(file, "sheet_length", header.sheet.length, source);
    write_real_attribute(file, "sheet_width", header.sheet.width, source);
    write_real_attribute(file, "mass", header.sheet.mass, source);
    write_real_attribute(file, "dt", header.dt, source);
    write_int_attribute(file, "stride", header.stride, source);
    hdf5::write_attribute(file, "seed", H5T_STD_U64LE, H5T_NATIVE_UINT64, {}, &header.seed, source);
    write_vector_attribute(file, "gravity", header.environment.gravity, source);
    write_real_attribute(file, "drag", header.environment.drag, source);
    write_vector_attribute(file, "wind", header.environment.wind, source);
    write_int_attribute(file, "rollouts_planned", header.rollouts_planned, source);
    hdf5::write_dataset(file, "rest", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE,
                        {header.landmark_count(), 2}, {}, header.rest.data(), source);
    write_text_dataset(file, "config", header.config, source);
    write_text_dataset(file, "source_cloth", header.source_cloth, source);
}

// Takes disk space behind the first `from` bytes of a file before HDF5 needs it. HDF5 cannot close
// a file whose last bytes find no room, and brings the process down when it ends.
void reserve_space(const fs::path& path, std::uintmax_t from, std::uintmax_t bytes)
{
    const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (file < 0) {
        throw Error("{}: cannot be written ({}); check permissions, or name another place",
                    path.string(), std::strerror(errno));
    }
    const int status = ::posix_fallocate(file, static_cast<off_t>(from), static_cast<off_t>(bytes));
    ::close(file);
    if (status == ENOSPC || status == EFBIG || status == EDQUOT) {
        throw Error("{}: {} bytes more are needed ({}); free some or name another place",
                    path.string(), bytes, std::strerror(status));
    }
}

// What a rollout takes at most: its numbers in whole chunks, and the bookkeeping around them.
std::uintmax_t rollout_bytes(const Rollout& rollout)
{
    const Handles& handles = rollout.handles;
    const std::uintmax_t numbers =
        (rollout.position.size() + rollout.velocity.size() + rollout.acceleration.size()) *
            sizeof(float) +
        handles.particles.size() * sizeof(int) + handles.key_time.size() * sizeof(double) +
        handles.key_position.size() * sizeof(Vec3d);
    const std::uintmax_t frame = rollout.position.size() / rollout.frame_count * sizeof(float);
    return numbers + numbers / 16 + 3 * std::max<std::uintmax_t>(kChunkBytes, frame) + kChunkBytes;
}

Handle create_file(const fs::path& path)
{
    const Handle creation = hdf5::timeless(H5P_FILE_CREATE);
    const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
    // The 1.8 layout guards its metadata with checksums. The 1.10 layout does too, but marks a file
    // as open for writing, and then nobody can read what an interrupted run left behind.
    H5Pset_libver_bounds(access.id(), H5F_LIBVER_V18, H5F_LIBVER_V18);
    H5Pset_file_locking(access.id(), true, true);  // some network disks know no locks
    Handle file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, creation.id(), access.id()), H5Fclose);
    if (!file.valid()) hdf5::fail_write(path.string());
    return file;
}

Handle create_group(hid_t file, const std::string& name, std::string_view source)
{
    const Handle properties = hdf5::timeless(H5P_GROUP_CREATE);
    Handle group(H5Gcreate2(file, name.c_str(), H5P_DEFAULT, properties.id(), H5P_DEFAULT),
                 H5Gclose);
    if (!group.valid()) hdf5::fail_write(source);
    return group;
}

void check_rollout(const Rollout& rollout, std::size_t index, std::size_t landmarks,
                   std::string_view source)
{
    const std::size_t frames = rollout.frame_count, needed = frames * landmarks * 3;
    if (frames == 0 || frames > kMostPerAxis) {
        throw Error("{}: rollout {} has {} frames; 1 to {} are needed", source, index, frames,
                    kMostPerAxis);
    }
    const auto check = [&](const std::vector<float>& values, std::string_view what) {
        if (values.size() != needed) {
            throw Error("{}: rollout {} has {} {} numbers, but {} frames of {} landmarks need {}",
                        source, index, values.size(), what, frames, landmarks, needed);
        }
        check_finite(values, what, landmarks, index, 0, source);
    };
    check(rollout.position, "position");
    check(rollout.velocity, "velocity");
    if (!rollout.acceleration.empty()) check(rollout.acceleration, "acceleration");
    check_handles(rollout.handles, landmarks, fmt::format("{}: rollout {}", source, index));
}

void write_frames(hid_t group, const char* name, const std::vector<float>& values,
                  std::size_t frames, std::size_t landmarks, std::string_view source)
{
    const hsize_t frame_bytes = landmarks * 3 * sizeof(float);
    const hsize_t chunk_frames = std::clamp<hsize_t>(kChunkBytes / frame_bytes, 1, frames);
    hdf5::write_dataset(group, name, H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, {frames, landmarks, 3},
                        {chunk_frames, landmarks, 3}, values.data(), source);
}

void write_handles(hid_t group, const Handles& handles, std::string_view source)
{
    static_assert(sizeof(Vec3d) == 3 * sizeof(double));
    const hsize_t count = handles.particles.size(), keys = handles.key_time.size();
    if (count == 0) return;
    hdf5::write_dataset(group, "handles", H5T_STD_I32LE, H5T_NATIVE_INT, {count}, {},
                        handles.particles.data(), source);
    if (!handles.moving()) return;
    hdf5::write_dataset(group, "handle_time", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, {keys}, {},
                        handles.key_time.data(), source);
    hdf5::write_dataset(group, "handle_position", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE,
                        {keys, count, 3}, {}, handles.key_position.data(), source);
}

// ---- Reading

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

Handle open_file(const fs::path& path)
{
    check_source(path);
    std::error_code ignored;
    if (fs::file_size(path, ignored) == 0) {
        throw Error("{}: is empty; a motion file is needed, make it again", path.string());
    }
    const htri_t is_hdf5 = H5Fis_hdf5(path.c_str());
    if (is_hdf5 < 0) hdf5::fail_read(path.string());
    if (is_hdf5 == 0) {
        throw Error("{}: is no HDF5 file; a motion file is needed (docs/formats.md)",
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
        if (found > kMotionVersion) {
            throw Error(
                "{}: motion file version {}, but springtime {} reads version {};"
                " update springtime",
                source, found, kVersion, kMotionVersion);
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
    const Handle group(H5Gopen2(file, "rollouts", H5P_DEFAULT), H5Gclose);
    H5G_info_t info;
    if (!group.valid() || H5Gget_info(group.id(), &info) < 0) hdf5::fail_read(label);
    if (info.nlinks == 0) {
        throw Error("{}: no rollouts; a motion file needs /rollouts/000000 at least", source);
    }
    return info.nlinks;
}

// v = (x[f + 1] - x[f - 1]) / (2 T), one-sided at the ends; `positions` are the frames from
// `first` to `last` inclusive, of which `wanted` begins at `offset`.
std::vector<float> difference_velocity(const std::vector<float>& positions, std::size_t offset,
                                       std::size_t wanted, std::size_t row, double interval)
{
    const std::size_t frames = positions.size() / row;
    std::vector<float> velocity(wanted * row);
    for (std::size_t f = 0; f < wanted; ++f) {
        const std::size_t at = offset + f, from = at == 0 ? 0 : at - 1;
        const std::size_t to = std::min(at + 1, frames - 1);
        const double span = (to - from) * interval;
        for (std::size_t i = 0; i < row; ++i) {
            const double moved = double(positions[to * row + i]) - positions[from * row + i];
            velocity[f * row + i] = static_cast<float>(moved / span);
        }
    }
    return velocity;
}

}  // namespace

struct MotionWriter::Impl {
    fs::path path;
    MotionHeader header;
    Handle file;
    std::size_t rollout_count = 0;

    std::string part() const { return part_path(path).string(); }
    std::uintmax_t size() const
    {
        hsize_t bytes = 0;
        if (H5Fget_filesize(file.id(), &bytes) < 0) hdf5::fail_write(part());
        return bytes;
    }
    // Hands everything to the system, and gives back what was reserved in vain.
    void flush() const
    {
        if (H5Fflush(file.id(), H5F_SCOPE_LOCAL) < 0) hdf5::fail_write(part());
        std::error_code ignored;
        fs::resize_file(part_path(path), size(), ignored);
    }
};

MotionWriter::MotionWriter(const fs::path& path, const MotionHeader& header)
    : impl_(std::make_unique<Impl>())
{
    const Session session;
    check_header(header, path.string());
    check_target(path);
    impl_->path = path;
    impl_->header = header;
    reserve_space(part_path(path), 0,
                  header.rest.size() * sizeof(SheetPoint) + header.config.size() +
                      header.source_cloth.size() + kChunkBytes);
    impl_->file = create_file(part_path(path));
    write_header(impl_->file.id(), header, impl_->part());
    create_group(impl_->file.id(), "rollouts", impl_->part());
    impl_->flush();
}

MotionWriter::~MotionWriter() = default;

void MotionWriter::append(const Rollout& rollout)
{
    if (!impl_->file.valid()) throw Error("{}: is finished; open another", impl_->path.string());
    const std::size_t index = impl_->rollout_count, landmarks = impl_->header.landmark_count();
    check_rollout(rollout, index, landmarks, impl_->path.string());
    const Session session;
    const std::string source = impl_->part();
    reserve_space(source, impl_->size(), rollout_bytes(rollout));
    const Handle group = create_group(impl_->file.id(), rollout_name(index), source);
    const auto write = [&](const char* name, const std::vector<float>& values) {
        write_frames(group.id(), name, values, rollout.frame_count, landmarks, source);
    };
    write("position", rollout.position);
    write("velocity", rollout.velocity);
    if (!rollout.acceleration.empty()) write("acceleration", rollout.acceleration);
    write_handles(group.id(), rollout.handles, source);
    // From here on an interrupted run leaves a part that can be read up to this rollout.
    impl_->flush();
    ++impl_->rollout_count;
}

void MotionWriter::finish()
{
    if (!impl_->file.valid()) throw Error("{}: is finished already", impl_->path.string());
    if (impl_->rollout_count == 0) {
        throw Error("{}: no rollouts; append one before finishing", impl_->path.string());
    }
    const Session session;
    if (!impl_->file.close()) hdf5::fail_write(impl_->part());
    publish_part(impl_->path);
}

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
    std::size_t checked_frame_count(std::size_t rollout) const;
    void check_rollout_index(std::size_t rollout) const;
    std::vector<float> read_frames(hid_t group, const char* name, std::size_t rollout,
                                   std::size_t first, std::size_t count) const;
    std::vector<float> estimate_velocity(hid_t group, std::size_t rollout, std::size_t first,
                                         std::size_t count) const;
    Handles read_handles(hid_t group, std::size_t rollout) const;
};

Handle MotionReader::Impl::open_rollout(std::size_t rollout) const
{
    if (!hdf5::link_exists(file.id(), rollout_name(rollout), source)) {
        throw Error("{} is missing; name rollouts 000000, 000001 and so on, without gaps",
                    label(rollout));
    }
    Handle group(H5Gopen2(file.id(), rollout_name(rollout).c_str(), H5P_DEFAULT), H5Gclose);
    if (!group.valid()) hdf5::fail_read(label(rollout));
    return group;
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

std::size_t MotionReader::Impl::checked_frame_count(std::size_t rollout) const
{
    const Handle group = open_rollout(rollout);
    const Item position = open_frames(group.id(), "position", rollout);
    hdf5::check_stored(position, file_bytes);
    const std::size_t frames = position.shape()[0];
    for (const char* name : {"velocity", "acceleration"}) {
        if (!hdf5::link_exists(group.id(), name, label(rollout))) continue;
        const Item item = open_frames(group.id(), name, rollout);
        hdf5::check_stored(item, file_bytes);
        if (item.shape()[0] == frames) continue;
        throw Error("{} has {} frames, but position has {}; store both for every frame", item.label,
                    item.shape()[0], frames);
    }
    if (frames < 2 && !hdf5::link_exists(group.id(), "velocity", label(rollout))) {
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
    check_finite(values, name, header.landmark_count(), rollout, first, source);
    return values;
}

// One frame more on either side, so that a part of a rollout gets the velocities of the whole.
std::vector<float> MotionReader::Impl::estimate_velocity(hid_t group, std::size_t rollout,
                                                         std::size_t first, std::size_t count) const
{
    const std::size_t from = first == 0 ? 0 : first - 1;
    const std::size_t to = std::min(first + count + 1, frame_counts[rollout]);
    const std::vector<float> positions = read_frames(group, "position", rollout, from, to - from);
    return difference_velocity(positions, first - from, count, row(), header.frame_interval());
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
    check_shape(particles, particles.shape().size() == 1, "one landmark index per handle");
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

MotionReader::MotionReader(const fs::path& path) : impl_(std::make_unique<Impl>())
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
    part.velocity = hdf5::link_exists(group.id(), "velocity", impl_->label(rollout))
                        ? frames_of("velocity")
                        : impl_->estimate_velocity(group.id(), rollout, first, count);
    if (hdf5::link_exists(group.id(), "acceleration", impl_->label(rollout))) {
        part.acceleration = frames_of("acceleration");
    }
    part.handles = impl_->read_handles(group.id(), rollout);
    for (double& time : part.handles.key_time) {
        time -= first * impl_->header.frame_interval();
    }
    return part;
}

FileKind file_kind(const fs::path& path)
{
    check_source(path);
    const Session session;
    if (H5Fis_hdf5(path.c_str()) > 0) {
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
