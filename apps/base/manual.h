#pragma once

#include <string>

namespace CLI {
class App;
}  // namespace CLI

namespace springtime::app {

// What the flags say of themselves, for other programs to read: a manual page (troff), and the
// completion of words for bash, zsh or fish. Throws Error for another shell.
std::string manual_page(const CLI::App& root);
std::string completion_for(const std::string& shell, const CLI::App& root);

// The name among those of the program, or of one of its verbs, that a mistyped one may stand for:
// "--rollouts" for "--rolouts". Empty where none is near.
std::string nearest_name(const CLI::App& app, const std::string& mistyped);

}  // namespace springtime::app
