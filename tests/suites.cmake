# Lists the GoogleTest suites of an executable as ctest tests, one process for each suite. Run by the build as
#   cmake -DEXECUTABLE=... -DAREA=plan -DTIMEOUT=120 -DLABELS=quick -DSHARE=3 -DLARGE=Scale -DWHOLE=... -DOUTPUT=...
#         -P suites.cmake
# With a SHARE of 3, every third case of a parameterised suite, or of one in the list LARGE, is run; but all cases of a
# suite in the list WHOLE.
# One process per case would spend most of its time on starting.
cmake_minimum_required(VERSION 3.25)
execute_process(COMMAND ${EXECUTABLE} --gtest_list_tests OUTPUT_VARIABLE listing RESULT_VARIABLE status
                ERROR_VARIABLE errors TIMEOUT 60)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "${EXECUTABLE} could not list its tests: ${status}\n${listing}${errors}")
endif()

# A suite's line ends with a dot and is not indented; an instance of a parameterised suite has its own name.
string(REGEX MATCHALL "(^|\n)[^ \n][^ \n]*\\.(  # [^\n]*)?\n" suites "${listing}")
set(text "")
foreach(suite ${suites})
  string(REGEX REPLACE "^\n|\\.(  # [^\n]*)?\n$" "" suite "${suite}")
  if(suite MATCHES "DISABLED_")
    continue()
  endif()
  set(environment "")
  if(SHARE GREATER 1 AND (suite MATCHES "/" OR suite IN_LIST LARGE) AND NOT suite IN_LIST WHOLE)
    set(environment "ENVIRONMENT \"GTEST_TOTAL_SHARDS=${SHARE};GTEST_SHARD_INDEX=0\"")
  endif()
  string(APPEND text "add_test([=[${AREA}/${suite}]=] [=[${EXECUTABLE}]=] [=[--gtest_filter=${suite}.*]=]"
                     " --gtest_brief=1)\n"
                     "set_tests_properties([=[${AREA}/${suite}]=] PROPERTIES TIMEOUT ${TIMEOUT} LABELS \"${LABELS}\""
                     " ${environment})\n")
endforeach()
if(text STREQUAL "")
  message(FATAL_ERROR "${EXECUTABLE} has no tests")
endif()
file(WRITE ${OUTPUT} "${text}")
