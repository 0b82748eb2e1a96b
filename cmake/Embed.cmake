# ladder_embed(<out.inc> <file>...): writes text files as C++, one line per file: {"name", R"~~~(its
# text)~~~"}, to be included in an initialiser. CMake configures again if a file changes.
function(ladder_embed out)
  set(text "")
  foreach(path ${ARGN})
    get_filename_component(name ${path} NAME)
    file(READ ${path} content)
    string(APPEND text "{\"${name}\", R\"~~~(${content})~~~\"},\n")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${path})
  endforeach()
  file(GENERATE OUTPUT ${out} CONTENT "${text}")
endfunction()
