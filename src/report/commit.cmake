# Writes OUT (commit.inc) with the commit of SOURCE, only if it changed. If GIT is absent or SOURCE
# is no checkout, COMMIT, or LADDER_COMMIT in the build's environment, is used.
set(commit "${COMMIT}")
if(NOT commit)
  set(commit "$ENV{LADDER_COMMIT}")
endif()
if(NOT commit AND GIT)
  execute_process(COMMAND ${GIT} -C ${SOURCE} describe --always --dirty --abbrev=12
    OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
  if(failed)
    set(commit "")
  endif()
endif()
if(NOT commit)
  set(commit "unknown")
endif()
file(CONFIGURE OUTPUT ${OUT} CONTENT "constexpr const char* kCommit = \"${commit}\";\n")
