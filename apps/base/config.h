#pragma once

#include <string>
#include <vector>

#include "flags.h"
#include "springtime/files.h"

namespace springtime::app {

// Arguments that stand for the keys of a TOML text: its top level, and the table named like the
// verb. Keys that `given` already sets on the command line are left out. Throws Error for text that
// is not TOML and for keys the verb does not have.
std::vector<std::string> config_arguments(const Flags& flags, const std::string& toml,
                                          const std::string& source,
                                          const std::vector<std::string>& given);

// The value of `--name VALUE` or `--name=VALUE` among arguments, or an empty text.
std::string argument_value(const std::vector<std::string>& arguments, const std::string& name);
bool has_argument(const std::vector<std::string>& arguments, const std::string& name);

// Every setting of a parsed verb that shapes its result, as TOML; `without` names those that
// do not.
std::string merged_config(const Flags& flags, const std::vector<std::string>& without);

// Throws Error naming the first setting that differs from what a file or folder was made with; the
// one named `free` may.
void check_same_config(const std::string& stored, const std::string& now, const std::string& free,
                       const std::string& source);

// A text among the settings of a TOML text, or an empty one.
std::string text_setting(const std::string& toml, const std::string& key);

// Quoted as TOML.
std::string toml_text(const std::string& text);

}  // namespace springtime::app
