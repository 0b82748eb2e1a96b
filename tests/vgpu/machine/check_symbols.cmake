# Objects compiled for one instruction set may define nothing that other objects could be linked
# with: an inline function kept as a weak symbol could replace, for all hosts, one compiled for the
# oldest.
foreach(object ${OBJECTS})
  execute_process(COMMAND ${NM} --defined-only ${object} OUTPUT_VARIABLE symbols RESULT_VARIABLE
    status)
  if(status)
    message(FATAL_ERROR "${NM} ${object} failed")
  endif()
  string(REGEX MATCHALL "[^\n]* [WVu] [^\n]*" weak "${symbols}")
  if(weak)
    message(FATAL_ERROR "${object} defines weak symbols:\n${weak}")
  endif()
endforeach()
