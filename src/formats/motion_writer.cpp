#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "core/atomic_file.h"
#include "formats/motion_file.h"
#include "springtime/error.h"
#include "springtime/files.h"

namespace springtime {

MotionHeader header_for(const Cloth& cloth, const SimulationOptions& options, int stride,
                        std::uint64_t seed, int rollouts, std::string config)
{
    MotionHeader header;
    header.sheet = cloth.sheet;
    header.rest = cloth.rest;
    header.dt = options.dt;
    header.stride = stride;
    header.environment = options.environment;
    header.seed = seed;
    header.rollouts_planned = rollouts;
    header.contact = !options.obstacles.empty() || options.self_distance > 0;
    header.config = std::move(config);
    header.source_cloth = cloth_to_json(cloth);
    return header;
}

namespace fs = std::filesystem;
using hdf5::Handle;
using hdf5::Session;
using namespace motion_file;

namespace {

// Large enough that a seek costs little beside it, small enough that one clip reads little more
// than its own frames.
constexpr hsize_t kChunkBytes = 256 * 1024;

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
    write_int_attribute(file, "version", kFileVersion, source);
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
    if (header.contact) write_int_attribute(file, "contact", 1, source);
    if (header.gaps) write_int_attribute(file, "gaps", 1, source);
    if (header.captured) write_int_attribute(file, "captured", 1, source);
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
        throw Failure("{}: cannot be written ({}); check permissions, or name another place",
                      path.string(), std::strerror(errno));
    }
    const int status = ::posix_fallocate(file, static_cast<off_t>(from), static_cast<off_t>(bytes));
    ::close(file);
    if (status == ENOSPC || status == EFBIG || status == EDQUOT) {
        throw Failure("{}: {} bytes more are needed ({}); free some or name another place",
                      path.string(), bytes, std::strerror(status));
    }
}

// What a rollout takes at most: its numbers in whole chunks, and the bookkeeping around them.
// `piece` has some of its frames.
std::uintmax_t rollout_bytes(std::size_t frame_count, const Rollout& piece)
{
    const std::uintmax_t frame = piece.position.size() / piece.frame_count * sizeof(float);
    const std::uintmax_t fields = 1 + !piece.velocity.empty() + !piece.acceleration.empty();
    const std::uintmax_t numbers = fields * frame * frame_count;
    return numbers + numbers / 16 + 3 * std::max<std::uintmax_t>(kChunkBytes, frame);
}

std::uintmax_t handle_bytes(const Handles& handles)
{
    return handles.particles.size() * sizeof(int) + handles.key_time.size() * sizeof(double) +
           handles.key_position.size() * sizeof(Vec3d) + kChunkBytes;
}

Handle create_file(const fs::path& path)
{
    const Handle creation = hdf5::timeless(H5P_FILE_CREATE);
    const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
    // The 1.8 layout guards its metadata with checksums. The 1.10 layout does too, but marks a file
    // as open for writing, and then what an interrupted run left cannot be read.
    H5Pset_libver_bounds(access.id(), H5F_LIBVER_V18, H5F_LIBVER_V18);
    H5Pset_file_locking(access.id(), false, true);  // PartLock has locked it
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

// A piece of a rollout that begins at frame `first`.
void check_piece(const Rollout& piece, std::size_t first, std::size_t rollout,
                 const MotionHeader& header, std::string_view source)
{
    const std::size_t landmarks = header.landmark_count();
    const std::size_t frames = piece.frame_count, needed = frames * landmarks * 3;
    const auto check = [&](const std::vector<float>& values, std::string_view what) {
        if (values.size() != needed) {
            throw Error("{}: rollout {} has {} {} numbers, but {} frames of {} landmarks need {}",
                        source, rollout, values.size(), what, frames, landmarks, needed);
        }
        check_finite(values, what, landmarks, rollout, first, source, header.gaps);
    };
    check(piece.position, "position");
    if (header.velocities || !piece.velocity.empty()) check(piece.velocity, "velocity");
    if (!piece.acceleration.empty()) check(piece.acceleration, "acceleration");
}

void check_frame_count(std::size_t frames, std::size_t rollout, std::string_view source)
{
    if (frames > 0 && frames <= kMostPerAxis) return;
    throw Error("{}: rollout {} has {} frames; 1 to {} are needed", source, rollout, frames,
                kMostPerAxis);
}

// A field over frames and landmarks, which is filled piece by piece.
class FrameField {
  public:
    FrameField(hid_t group, const char* name, std::size_t frames, std::size_t landmarks,
               std::string source)
        : landmarks_(landmarks), source_(std::move(source))
    {
        const hsize_t frame_bytes = landmarks * 3 * sizeof(float);
        const hsize_t chunk_frames = std::clamp<hsize_t>(kChunkBytes / frame_bytes, 1, frames);
        dataset_ = hdf5::create_dataset(group, name, H5T_IEEE_F32LE, {frames, landmarks, 3},
                                        {chunk_frames, landmarks, 3}, source_);
    }

    void write(std::size_t first, std::size_t count, const std::vector<float>& values)
    {
        hdf5::write_part(dataset_, H5T_NATIVE_FLOAT, first, {count, landmarks_, 3}, values.data(),
                         source_);
    }

    void close()
    {
        if (!dataset_.close()) hdf5::fail_write(source_);  // cached chunks reach the disk only now
    }

  private:
    std::size_t landmarks_;
    std::string source_;
    Handle dataset_;
};

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

// Rollouts that an interrupted run left are not lost by mistake.
void check_part(const fs::path& part)
{
    const std::optional<MotionReader> left = MotionReader::open_part(part);
    if (!left) return;
    throw Error(
        "{}: holds {} of {} rollouts, which an interrupted run left; generate finishes it with "
        "`resume`; drop it with `overwrite`, or name another",
        part.string(), left->rollout_count(), left->header().rollouts_planned);
}

}  // namespace

// A rollout that is being written.
struct OpenRollout {
    using Member = std::vector<float> Rollout::*;

    std::size_t frame_count = 0, written = 0;
    Handle group;
    std::vector<std::pair<Member, FrameField>> fields;
};

struct MotionWriter::Impl {
    Impl(const fs::path& to, const MotionHeader& what, bool overwrite)
        : lock(to, overwrite), path(to), header(what)
    {
    }

    PartLock lock;
    fs::path path;
    MotionHeader header;
    Handle file;  // closed before the lock ends
    std::size_t rollout_count = 0;

    std::string part() const { return lock.part().string(); }
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
        fs::resize_file(part(), size(), ignored);
    }
    OpenRollout begin(std::size_t frame_count, const Rollout& piece) const;
    void write(OpenRollout& rollout, const Rollout& piece) const;
    void end(OpenRollout& rollout, const Handles& handles);
};

// `piece`, the first one, shows what is stored; it is checked before anything is written.
OpenRollout MotionWriter::Impl::begin(std::size_t frame_count, const Rollout& piece) const
{
    check_frame_count(frame_count, rollout_count, path.string());
    if (piece.frame_count == 0) {
        throw Error("{}: rollout {} begins with no frames, but {} are needed", path.string(),
                    rollout_count, frame_count);
    }
    if (frame_count < 2 && piece.velocity.empty()) {
        throw Error("{}: rollout {} has one frame and no velocity; store velocity or more frames",
                    path.string(), rollout_count);
    }
    check_piece(piece, 0, rollout_count, header, path.string());
    const Session session;
    reserve_space(part(), size(), rollout_bytes(frame_count, piece));
    OpenRollout rollout;
    rollout.frame_count = frame_count;
    rollout.group = create_group(file.id(), rollout_name(rollout_count), part());
    const auto add = [&](const char* name, OpenRollout::Member values) {
        if ((piece.*values).empty()) return;
        rollout.fields.emplace_back(values, FrameField(rollout.group.id(), name, frame_count,
                                                       header.landmark_count(), part()));
    };
    add("position", &Rollout::position);
    add("velocity", &Rollout::velocity);
    add("acceleration", &Rollout::acceleration);
    return rollout;
}

void MotionWriter::Impl::write(OpenRollout& rollout, const Rollout& piece) const
{
    const std::size_t left = rollout.frame_count - rollout.written;
    if (piece.frame_count == 0 || piece.frame_count > left) {
        throw Error("{}: rollout {} has {} frames from frame {} on, but {} are needed",
                    path.string(), rollout_count, piece.frame_count, rollout.written, left);
    }
    if (rollout.written > 0) {
        check_piece(piece, rollout.written, rollout_count, header, path.string());
    }
    const Session session;
    for (auto& [values, field] : rollout.fields) {
        field.write(rollout.written, piece.frame_count, piece.*values);
    }
    rollout.written += piece.frame_count;
}

void MotionWriter::Impl::end(OpenRollout& rollout, const Handles& handles)
{
    check_handles(handles, header.landmark_count(),
                  fmt::format("{}: rollout {}", path.string(), rollout_count));
    const Session session;
    for (auto& [values, field] : rollout.fields) field.close();
    reserve_space(part(), size(), handle_bytes(handles));
    write_handles(rollout.group.id(), handles, part());
    rollout.group.close();
    // From here on an interrupted run leaves a part that can be read up to this rollout.
    flush();
    ++rollout_count;
}

MotionWriter::MotionWriter(const fs::path& path, const MotionHeader& header, bool overwrite)
{
    const Session session;
    check_header(header, path.string());
    impl_ = std::make_unique<Impl>(path, header, overwrite);
    if (!overwrite) check_part(impl_->part());
    impl_->lock.clear();
    reserve_space(impl_->part(), 0,
                  header.rest.size() * sizeof(SheetPoint) + header.config.size() +
                      header.source_cloth.size() + kChunkBytes);
    impl_->file = create_file(impl_->part());
    write_header(impl_->file.id(), header, impl_->part());
    create_group(impl_->file.id(), "rollouts", impl_->part());
    impl_->flush();
}

MotionWriter::~MotionWriter()
{
    if (impl_->rollout_count == 0) return;  // the part goes with its lock
    impl_->file.close();
    impl_->lock.release();
}

void MotionWriter::discard()
{
    impl_->rollout_count = 0;
    impl_->file.close();
}

void MotionWriter::append(const Rollout& rollout)
{
    if (!impl_->file.valid()) throw Error("{}: is finished; open another", impl_->path.string());
    check_handles(rollout.handles, impl_->header.landmark_count(),
                  fmt::format("{}: rollout {}", impl_->path.string(), impl_->rollout_count));
    OpenRollout open = impl_->begin(rollout.frame_count, rollout);
    impl_->write(open, rollout);
    impl_->end(open, rollout.handles);
}

void MotionWriter::append(std::size_t frame_count, const SegmentReader& next)
{
    if (!impl_->file.valid()) throw Error("{}: is finished; open another", impl_->path.string());
    Rollout piece = next(0, frame_count);
    OpenRollout open = impl_->begin(frame_count, piece);
    while (true) {
        impl_->write(open, piece);
        if (open.written == frame_count) break;
        piece = next(open.written, frame_count - open.written);
    }
    impl_->end(open, piece.handles);
}

void MotionWriter::finish()
{
    if (!impl_->file.valid()) throw Error("{}: is finished already", impl_->path.string());
    if (impl_->rollout_count == 0) {
        throw Error("{}: no rollouts; append one before finishing", impl_->path.string());
    }
    const Session session;
    if (!impl_->file.close()) hdf5::fail_write(impl_->part());
    impl_->lock.publish();
}

void adopt_part(
    const fs::path& path,
    const std::function<void(const MotionHeader& file, const MotionHeader& part)>& check)
{
    if (!fs::exists(part_path(path))) return;
    PartLock lock(path, true);
    const std::optional<MotionReader> part = MotionReader::open_part(lock.part());
    if (!part) return;
    if (fs::exists(path)) {
        const MotionReader file(path);
        check(file.header(), part->header());
        if (part->rollout_count() <= file.rollout_count()) return;
    }
    lock.publish();
}

}  // namespace springtime
