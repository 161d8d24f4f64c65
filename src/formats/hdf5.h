#pragma once

#include <fmt/format.h>
#include <hdf5.h>

#include <algorithm>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "springtime/error.h"

// The little of HDF5 that we use, closed by destructors and failing with Error. What only readers
// need is in hdf5_reading.h.
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

[[noreturn]] inline void fail_read(std::string_view label, const std::string& reason)
{
    Session::stay_silent();
    throw Error("{}: cannot be read (HDF5: {}); the file is damaged, copy it or make it again",
                label, reason);
}

[[noreturn]] inline void fail_read(std::string_view label)
{
    fail_read(label, innermost_message());
}

[[noreturn]] inline void fail_write(std::string_view label)
{
    throw Failure("{}: cannot be written (HDF5: {}); check permissions and free space", label,
                  innermost_message());
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
