#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <limits>

#include "formats/hdf5.h"

// Reading HDF5 files that anybody may have written. HDF5 follows links into other files, takes
// values from them, and trusts what a file says of itself. So everything is looked at before HDF5
// is asked for more: how an object is linked, how its values are stored, their type and number.
namespace springtime::hdf5 {

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

// The largest number where it is larger than that.
inline hsize_t product(const std::vector<hsize_t>& factors)
{
    hsize_t result = 1;
    for (const hsize_t factor : factors) {
        if (factor == 0) return 0;
        if (__builtin_mul_overflow(result, factor, &result)) {
            result = std::numeric_limits<hsize_t>::max();
        }
    }
    return result;
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
    // Zero for the null dataspace, one for a scalar. HDF5 would let a product of axes wrap around;
    // here it stays at the largest number.
    hsize_t value_count() const
    {
        if (H5Sget_simple_extent_type(space.id()) == H5S_NULL) return 0;
        return product(shape());
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

// Whether a group holds `name`, which is the name of a link, not a path. A link to anything but an
// object of the same group is refused: it may lead into another file, to a pipe, or in circles.
inline bool link_exists(hid_t group, const std::string& name, std::string_view source)
{
    const std::string label = fmt::format("{}: '{}'", source, name);
    const htri_t exists = H5Lexists(group, name.c_str(), H5P_DEFAULT);
    if (exists < 0) fail_read(label);
    if (exists == 0) return false;
    H5L_info_t info;
    if (H5Lget_info(group, name.c_str(), &info, H5P_DEFAULT) < 0) fail_read(label);
    if (info.type == H5L_TYPE_HARD) return true;
    throw Error("{} is {} link; a file has to hold its data itself, store them in it", label,
                info.type == H5L_TYPE_EXTERNAL ? "an external"
                : info.type == H5L_TYPE_SOFT   ? "a soft"
                                               : "a user-defined");
}

// After an open that failed: something else has this name, or the file is damaged.
[[noreturn]] inline void fail_open(hid_t group, const std::string& name, std::string_view needed,
                                   const std::string& label)
{
    const std::string reason = innermost_message();
    if (Handle(H5Oopen(group, name.c_str(), H5P_DEFAULT), H5Oclose).valid()) {
        throw Error("{} is not a {}; write it as docs/formats.md says", label, needed);
    }
    fail_read(label, reason);
}

inline Handle open_group(hid_t parent, const std::string& name, const std::string& label)
{
    Handle group(H5Gopen2(parent, name.c_str(), H5P_DEFAULT), H5Gclose);
    if (!group.valid()) fail_open(parent, name, "group", label);
    return group;
}

// Throws Error unless the values of a dataset are in its own file, behind filters that have proved
// sound: deflate, shuffle and checksums.
inline void check_storage(hid_t dataset, const std::string& label)
{
    const Handle layout(H5Dget_create_plist(dataset), H5Pclose);
    if (!layout.valid()) fail_read(label);
    if (H5Pget_layout(layout.id()) == H5D_VIRTUAL) {
        throw Error("{} is put together from other datasets; store its values in the file", label);
    }
    if (H5Pget_external_count(layout.id()) != 0) {
        throw Error("{} keeps its values in another file; store them in this one", label);
    }
    const int filters = H5Pget_nfilters(layout.id());
    for (int i = 0; i < filters; ++i) {
        unsigned flags = 0, config = 0;
        std::size_t value_count = 0;
        const H5Z_filter_t filter = H5Pget_filter2(layout.id(), unsigned(i), &flags, &value_count,
                                                   nullptr, 0, nullptr, &config);
        if (filter == H5Z_FILTER_DEFLATE || filter == H5Z_FILTER_SHUFFLE ||
            filter == H5Z_FILTER_FLETCHER32) {
            continue;
        }
        throw Error(
            "{} is stored through filter {}; deflate (gzip), shuffle and fletcher32 are "
            "read, store it with these or without",
            label, int(filter));
    }
}

inline Item open_dataset(hid_t group, const std::string& name, std::string label)
{
    Item item{std::move(label), false, {}, {}, {}};
    if (!link_exists(group, name, item.label)) {
        throw Error("{} is missing; write it as docs/formats.md says", item.label);
    }
    item.id = Handle(H5Dopen2(group, name.c_str(), H5P_DEFAULT), H5Dclose);
    if (!item.id.valid()) fail_open(group, name, "dataset", item.label);
    check_storage(item.id.id(), item.label);  // the space of a virtual one may open other files
    item.type = Handle(H5Dget_type(item.id.id()), H5Tclose);
    item.space = Handle(H5Dget_space(item.id.id()), H5Sclose);
    if (!item.type.valid() || !item.space.valid()) fail_read(item.label);
    return item;
}

// A number of 16 bits in the way of IEEE 754, which HDF5 has no name for.
inline Handle half_type(H5T_order_t order)
{
    Handle type(H5Tcopy(H5T_IEEE_F32LE), H5Tclose);
    H5Tset_fields(type.id(), 15, 10, 5, 0, 10);
    H5Tset_size(type.id(), 2);
    H5Tset_ebias(type.id(), 15);
    H5Tset_order(type.id(), order);
    return type;
}

// Whether a number is one that processors know. A file can describe numbers with fields anywhere in
// any number of bytes, and conversion of those is where HDF5 is weakest.
inline bool is_plain_number(const Handle& type)
{
    const auto is = [&](std::initializer_list<hid_t> known) {
        return std::any_of(known.begin(), known.end(),
                           [&](hid_t one) { return H5Tequal(type.id(), one) > 0; });
    };
    if (H5Tget_class(type.id()) == H5T_INTEGER) {
        return is({H5T_STD_I8LE, H5T_STD_I8BE, H5T_STD_I16LE, H5T_STD_I16BE, H5T_STD_I32LE,
                   H5T_STD_I32BE, H5T_STD_I64LE, H5T_STD_I64BE, H5T_STD_U8LE, H5T_STD_U8BE,
                   H5T_STD_U16LE, H5T_STD_U16BE, H5T_STD_U32LE, H5T_STD_U32BE, H5T_STD_U64LE,
                   H5T_STD_U64BE});
    }
    const Handle half = half_type(H5T_ORDER_LE), turned = half_type(H5T_ORDER_BE);
    return is(
        {H5T_IEEE_F32LE, H5T_IEEE_F64LE, H5T_IEEE_F32BE, H5T_IEEE_F64BE, half.id(), turned.id()});
}

inline void check_class(const Item& item, std::initializer_list<H5T_class_t> allowed,
                        std::string_view needed)
{
    const H5T_class_t found = item.type_class();
    if (std::find(allowed.begin(), allowed.end(), found) == allowed.end()) {
        throw Error("{} is of {} type; {} is needed", item.label, class_name(found), needed);
    }
    if ((found == H5T_INTEGER || found == H5T_FLOAT) && !is_plain_number(item.type)) {
        throw Error(
            "{} has numbers of an unusual kind, {} bytes each; store IEEE floating-point numbers "
            "of "
            "16, 32 or 64 bits, or integers of 8 to 64",
            item.label, H5Tget_size(item.type.id()));
    }
}

inline std::vector<hsize_t> chunk_shape(const Handle& layout, std::size_t rank)
{
    std::vector<hsize_t> chunk(rank, 1);
    H5Pget_chunk(layout.id(), static_cast<int>(rank), chunk.data());
    return chunk;
}

// Throws Error unless all chunks of a dataset are in the file. They are read one at a time, so none
// may be much larger than the values it is there for.
inline bool chunks_stored(const Item& item, const Handle& layout)
{
    constexpr hsize_t kSpare = 1 << 20;
    const std::vector<hsize_t> shape = item.shape(), chunk = chunk_shape(layout, shape.size());
    if (product(chunk) / 8 > std::max(kSpare, item.value_count())) {
        throw Error("{} has shape {} in chunks of {}; store it in chunks no larger than it is",
                    item.label, shape_text(shape), shape_text(chunk));
    }
    std::vector<hsize_t> needed(shape.size());
    for (std::size_t i = 0; i < shape.size(); ++i) {
        needed[i] = shape[i] / chunk[i] + (shape[i] % chunk[i] != 0);
    }
    hsize_t chunks = 0;
    if (H5Dget_num_chunks(item.id.id(), item.space.id(), &chunks) < 0) fail_read(item.label);
    return chunks >= product(needed);
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
    if (stored && H5Pget_layout(layout.id()) == H5D_CHUNKED) {
        stored = chunks_stored(item, layout);
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

}  // namespace springtime::hdf5
