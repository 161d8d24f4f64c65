#pragma once

#include <fmt/format.h>
#include <hdf5.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "springtime/error.h"

// The little of HDF5 that we use, closed by destructors and failing with Error.
namespace springtime::hdf5 {

// Every call into HDF5 happens inside a Session. It keeps HDF5 from printing its error stack, and
// holds a lock, for the library has state of its own and many builds of it are not thread-safe.
class Session {
  public:
    Session() : lock_(library_lock())
    {
        H5Eget_auto2(H5E_DEFAULT, &print_, &print_data_);
        H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    }
    ~Session()
    {
        if (!stay_silent_) H5Eset_auto2(H5E_DEFAULT, print_, print_data_);
    }
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    // HDF5 1.10 loses a little memory over a damaged file, and where it may print it complains
    // about itself at the end of the process. Our Error has said all there is to say.
    static void stay_silent()
    {
        const Session session;
        stay_silent_ = true;
    }

  private:
    static std::recursive_mutex& library_lock()
    {
        static std::recursive_mutex lock;
        return lock;
    }

    static inline bool stay_silent_ = false;  // under the lock
    std::lock_guard<std::recursive_mutex> lock_;
    H5E_auto2_t print_ = nullptr;
    void* print_data_ = nullptr;
};

// Owns an identifier of any kind.
class Handle {
  public:
    using Close = herr_t (*)(hid_t);

    Handle() = default;
    Handle(hid_t id, Close closer) : id_(id), close_(closer) {}
    Handle(Handle&& o) noexcept : id_(std::exchange(o.id_, H5I_INVALID_HID)), close_(o.close_) {}
    Handle& operator=(Handle&& o) noexcept
    {
        std::swap(id_, o.id_);
        std::swap(close_, o.close_);
        return *this;
    }
    ~Handle() { close(); }

    bool valid() const { return id_ >= 0; }
    hid_t id() const { return id_; }
    // False when HDF5 could not close it, for instance because the disk is full.
    bool close()
    {
        if (!valid()) return true;
        const Session session;
        return close_(std::exchange(id_, H5I_INVALID_HID)) >= 0;
    }

  private:
    hid_t id_ = H5I_INVALID_HID;
    Close close_ = nullptr;
};

// What HDF5 says about the call that has just failed, from the place where it failed.
inline std::string innermost_message()
{
    std::string message = "no reason given";
    const auto take_first = [](unsigned n, const H5E_error2_t* error, void* to) -> herr_t {
        if (n == 0 && error->desc) *static_cast<std::string*>(to) = error->desc;
        return 0;
    };
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take_first, &message);
    return message;
}

[[noreturn]] inline void fail_read(std::string_view label)
{
    const std::string reason = innermost_message();
    Session::stay_silent();
    throw Error("{}: cannot be read (HDF5: {}); the file is damaged, copy it or make it again",
                label, reason);
}

[[noreturn]] inline void fail_write(std::string_view label)
{
    throw Failure("{}: cannot be written (HDF5: {}); check permissions and free space", label,
                  innermost_message());
}

inline std::string shape_text(const std::vector<hsize_t>& shape)
{
    if (shape.empty()) return "scalar";
    return fmt::format("{}", fmt::join(shape, " x "));
}

inline std::string_view class_name(H5T_class_t type)
{
    switch (type) {
        case H5T_INTEGER:
            return "integer";
        case H5T_FLOAT:
            return "floating-point";
        case H5T_STRING:
            return "text";
        case H5T_COMPOUND:
            return "compound";
        case H5T_ENUM:
            return "enumeration";
        default:
            return "other";
    }
}

// An attribute or a dataset that is open for reading. The label names file and item in errors.
struct Item {
    std::string label;
    bool is_attribute = false;
    Handle id, type, space;

    H5T_class_t type_class() const { return H5Tget_class(type.id()); }
    std::vector<hsize_t> shape() const
    {
        const int rank = H5Sget_simple_extent_ndims(space.id());
        if (rank < 0) fail_read(label);
        std::vector<hsize_t> dims(rank);
        if (rank > 0) H5Sget_simple_extent_dims(space.id(), dims.data(), nullptr);
        return dims;
    }
    // Zero for the null dataspace, one for a scalar.
    hsize_t value_count() const
    {
        return static_cast<hsize_t>(
            std::max<hssize_t>(0, H5Sget_simple_extent_npoints(space.id())));
    }
    void read(hid_t memory_type, void* to) const
    {
        const herr_t status =
            is_attribute ? H5Aread(id.id(), memory_type, to)
                         : H5Dread(id.id(), memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, to);
        if (status < 0) fail_read(label);
    }
};

// A negative answer means that the file is damaged, not that the attribute is absent.
inline bool attribute_exists(hid_t object, const char* name, std::string_view source)
{
    const htri_t exists = H5Aexists(object, name);
    if (exists < 0) fail_read(fmt::format("{}: attribute '{}'", source, name));
    return exists > 0;
}

inline Item open_attribute(hid_t object, const char* name, std::string_view source)
{
    Item item{fmt::format("{}: attribute '{}'", source, name), true, {}, {}, {}};
    if (!attribute_exists(object, name, source)) {
        throw Error("{} is missing; write it as docs/formats.md says", item.label);
    }
    item.id = Handle(H5Aopen(object, name, H5P_DEFAULT), H5Aclose);
    if (!item.id.valid()) fail_read(item.label);
    item.type = Handle(H5Aget_type(item.id.id()), H5Tclose);
    item.space = Handle(H5Aget_space(item.id.id()), H5Sclose);
    if (!item.type.valid() || !item.space.valid()) fail_read(item.label);
    return item;
}

inline bool link_exists(hid_t group, const std::string& name, std::string_view source)
{
    const htri_t exists = H5Lexists(group, name.c_str(), H5P_DEFAULT);
    if (exists < 0) fail_read(fmt::format("{}: '{}'", source, name));
    return exists > 0;
}

inline Item open_dataset(hid_t group, const std::string& name, std::string label)
{
    Item item{std::move(label), false, {}, {}, {}};
    if (!link_exists(group, name, item.label)) {
        throw Error("{} is missing; write it as docs/formats.md says", item.label);
    }
    item.id = Handle(H5Dopen2(group, name.c_str(), H5P_DEFAULT), H5Dclose);
    if (!item.id.valid()) fail_read(item.label);
    item.type = Handle(H5Dget_type(item.id.id()), H5Tclose);
    item.space = Handle(H5Dget_space(item.id.id()), H5Sclose);
    if (!item.type.valid() || !item.space.valid()) fail_read(item.label);
    return item;
}

inline void check_class(const Item& item, std::initializer_list<H5T_class_t> allowed,
                        std::string_view needed)
{
    const H5T_class_t found = item.type_class();
    if (std::find(allowed.begin(), allowed.end(), found) != allowed.end()) return;
    throw Error("{} is of {} type; {} is needed", item.label, class_name(found), needed);
}

inline hsize_t chunks_needed(hid_t layout, const std::vector<hsize_t>& shape)
{
    std::vector<hsize_t> chunk(shape.size(), 1);
    H5Pget_chunk(layout, static_cast<int>(chunk.size()), chunk.data());
    hsize_t count = 1;
    for (std::size_t i = 0; i < shape.size(); ++i) {
        count *= (shape[i] + chunk[i] - 1) / std::max<hsize_t>(chunk[i], 1);
    }
    return count;
}

// Throws Error unless every value of the dataset is in the file. HDF5 would quietly deliver zeros
// instead, and a damaged shape could ask for more memory than there is.
inline void check_stored(const Item& item, std::uintmax_t file_bytes)
{
    constexpr hsize_t kLargestCompression = 1100;  // deflate reaches 1032
    const Handle layout(H5Dget_create_plist(item.id.id()), H5Pclose);
    const int filters = H5Pget_nfilters(layout.id());
    const hsize_t bound = filters > 0 ? file_bytes * kLargestCompression : file_bytes;
    bool stored =
        item.value_count() <= bound / std::max<std::size_t>(1, H5Tget_size(item.type.id()));
    hsize_t chunks = 0;
    if (stored && H5Pget_layout(layout.id()) == H5D_CHUNKED) {
        if (H5Dget_num_chunks(item.id.id(), item.space.id(), &chunks) < 0) fail_read(item.label);
        stored = chunks >= chunks_needed(layout.id(), item.shape());
    } else if (stored && item.value_count() > 0) {
        stored = H5Dget_storage_size(item.id.id()) > 0;
    }
    if (stored) return;
    throw Error("{} has shape {}, but the file does not hold that many values; make it again",
                item.label, shape_text(item.shape()));
}

// Text of fixed or variable length. No conversion of character sets is asked for: ASCII is UTF-8.
inline std::string read_text(const Item& item, std::uintmax_t file_bytes)
{
    check_class(item, {H5T_STRING}, "text");
    if (item.value_count() != 1) {
        throw Error("{} holds {} texts; one is needed", item.label, item.value_count());
    }
    if (H5Tis_variable_str(item.type.id()) > 0) {
        char* text = nullptr;
        item.read(item.type.id(), &text);
        std::string copy = text ? text : "";
        H5free_memory(text);
        return copy;
    }
    const std::size_t size = H5Tget_size(item.type.id());
    if (size > file_bytes) throw Error("{} is longer than its file; make it again", item.label);
    std::string text(size, '\0');
    item.read(item.type.id(), text.data());
    if (H5Tget_strpad(item.type.id()) == H5T_STR_SPACEPAD) {
        text.erase(text.find_last_not_of(' ') + 1);
    }
    return text.substr(0, text.find('\0'));
}

// Exactly `count` numbers; whole numbers serve as well.
template <std::size_t count>
std::array<double, count> read_reals(const Item& item)
{
    check_class(item, {H5T_FLOAT, H5T_INTEGER}, "a number");
    if (item.value_count() != count) {
        throw Error("{} holds {} numbers; {} needed", item.label, item.value_count(),
                    count == 1 ? "one is" : fmt::format("{} are", count));
    }
    std::array<double, count> values;
    item.read(H5T_NATIVE_DOUBLE, values.data());
    return values;
}

inline std::int64_t read_integer(const Item& item)
{
    check_class(item, {H5T_INTEGER}, "an integer");
    if (item.value_count() != 1) {
        throw Error("{} holds {} numbers; one is needed", item.label, item.value_count());
    }
    std::int64_t value = 0;
    item.read(H5T_NATIVE_INT64, &value);
    return value;
}

// A text type of exactly this many bytes; HDF5 knows none of zero.
inline Handle text_type(std::size_t bytes)
{
    Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
    H5Tset_size(type.id(), std::max<std::size_t>(bytes, 1));
    H5Tset_strpad(type.id(), H5T_STR_NULLPAD);
    H5Tset_cset(type.id(), H5T_CSET_UTF8);
    return type;
}

inline Handle make_space(const std::vector<hsize_t>& shape)
{
    if (shape.empty()) return Handle(H5Screate(H5S_SCALAR), H5Sclose);
    const int rank = static_cast<int>(shape.size());
    return Handle(H5Screate_simple(rank, shape.data(), nullptr), H5Sclose);
}

// Writes an attribute; `shape` is empty for a scalar.
inline void write_attribute(hid_t object, const char* name, hid_t file_type, hid_t memory_type,
                            const std::vector<hsize_t>& shape, const void* values,
                            std::string_view source)
{
    const Handle space = make_space(shape);
    const Handle attribute(
        H5Acreate2(object, name, file_type, space.id(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
    if (!attribute.valid() || H5Awrite(attribute.id(), memory_type, values) < 0) fail_write(source);
}

// Creation properties without the time of day: the same calls make the same bytes.
inline Handle timeless(hid_t property_class)
{
    Handle properties(H5Pcreate(property_class), H5Pclose);
    H5Pset_obj_track_times(properties.id(), false);
    return properties;
}

// A `chunk` that is empty makes it contiguous.
inline Handle create_dataset(hid_t group, const char* name, hid_t file_type,
                             const std::vector<hsize_t>& shape, const std::vector<hsize_t>& chunk,
                             std::string_view source)
{
    const Handle space = make_space(shape);
    const Handle properties = timeless(H5P_DATASET_CREATE);
    if (!chunk.empty()) {
        H5Pset_chunk(properties.id(), static_cast<int>(chunk.size()), chunk.data());
    }
    Handle dataset(
        H5Dcreate2(group, name, file_type, space.id(), H5P_DEFAULT, properties.id(), H5P_DEFAULT),
        H5Dclose);
    if (!dataset.valid()) fail_write(source);
    return dataset;
}

// Writes a whole dataset.
inline void write_dataset(hid_t group, const char* name, hid_t file_type, hid_t memory_type,
                          const std::vector<hsize_t>& shape, const std::vector<hsize_t>& chunk,
                          const void* values, std::string_view source)
{
    Handle dataset = create_dataset(group, name, file_type, shape, chunk, source);
    if (H5Dwrite(dataset.id(), memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0 ||
        !dataset.close()) {  // cached chunks reach the disk only now
        fail_write(source);
    }
}

// Writes the part of a dataset that begins at `first` along its first axis and has this shape.
inline void write_part(const Handle& dataset, hid_t memory_type, hsize_t first,
                       const std::vector<hsize_t>& shape, const void* values,
                       std::string_view source)
{
    std::vector<hsize_t> start(shape.size(), 0);
    start[0] = first;
    const Handle memory = make_space(shape), space(H5Dget_space(dataset.id()), H5Sclose);
    if (H5Sselect_hyperslab(space.id(), H5S_SELECT_SET, start.data(), nullptr, shape.data(),
                            nullptr) < 0 ||
        H5Dwrite(dataset.id(), memory_type, memory.id(), space.id(), H5P_DEFAULT, values) < 0) {
        fail_write(source);
    }
}

}  // namespace springtime::hdf5
