# paddock_library(NAME base
#   SOURCES a.cc b.cc        explicit list, no globbing
#   USES base sys            layers below that it may include; tools/check_layers.py holds the table
#   LINKS dep::fmt           third-party libraries
#   TESTS a_test.cc          gtest files beside the code; one program per library, ctest label "unit"
#   TEST_USES model          further layers that only the tests need
#   FUZZ x_fuzz.cc           PD_FUZZ_TARGETs (base/testing/fuzz.h); the unit tests replay fuzz_seeds/<x>/
#   PROTO agent.proto        protobuf-lite schema compiled into the library
#   AGENT)                   also built as pd_<name>_agent: static, no sanitizer, optimised for size
function(paddock_library)
  cmake_parse_arguments(ARG "AGENT" "NAME" "SOURCES;USES;LINKS;TESTS;TEST_USES;FUZZ;PROTO" ${ARGN})
  set(generated)
  foreach(proto IN LISTS ARG_PROTO)
    get_filename_component(stem ${proto} NAME_WE)
    set(out ${CMAKE_BINARY_DIR}/generated/${ARG_NAME}/${stem})
    file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/generated/${ARG_NAME})
    add_custom_command(
      OUTPUT ${out}.pb.cc ${out}.pb.h
      COMMAND protobuf::protoc --cpp_out=${CMAKE_BINARY_DIR}/generated/${ARG_NAME}
              -I${CMAKE_CURRENT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR}/${proto}
      DEPENDS ${proto})
    list(APPEND generated ${out}.pb.cc ${out}.pb.h)
    set_source_files_properties(${out}.pb.cc PROPERTIES COMPILE_OPTIONS "-w")
  endforeach()

  # Built where a program or a test needs it: the release build has no use for the agent's second form.
  add_library(pd_${ARG_NAME} STATIC EXCLUDE_FROM_ALL ${ARG_SOURCES} ${generated})
  paddock_layer_properties(pd_${ARG_NAME} "" "${ARG_USES}" "${ARG_LINKS}")
  paddock_sanitize(pd_${ARG_NAME})

  if(ARG_AGENT AND NOT PADDOCK_BUILT_AGENT)
    add_library(pd_${ARG_NAME}_agent STATIC EXCLUDE_FROM_ALL ${ARG_SOURCES} ${generated})
    paddock_layer_properties(pd_${ARG_NAME}_agent "_agent" "${ARG_USES}" "${ARG_LINKS}")
    target_compile_options(pd_${ARG_NAME}_agent PRIVATE -Os -ffunction-sections -fdata-sections)
  endif()

  if(ARG_TESTS AND PADDOCK_UNIT_TESTS AND NOT PADDOCK_FUZZ)
    if(ARG_FUZZ)
      # Each defines the fuzzer's entry.
      set_source_files_properties(${ARG_FUZZ} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
      list(APPEND ARG_TESTS ${ARG_FUZZ} ${CMAKE_SOURCE_DIR}/src/base/testing/fuzz_replay_test.cc)
    endif()
    add_executable(${ARG_NAME}_test ${ARG_TESTS})
    target_link_libraries(${ARG_NAME}_test PRIVATE pd_${ARG_NAME})
    foreach(layer IN LISTS ARG_TEST_USES)
      target_link_libraries(${ARG_NAME}_test PRIVATE pd_${layer})
    endforeach()
    target_link_libraries(${ARG_NAME}_test PRIVATE ${PADDOCK_GMOCK} ${PADDOCK_GTEST_MAIN}
                          ${PADDOCK_GTEST} Threads::Threads)
    target_compile_definitions(${ARG_NAME}_test PRIVATE
      PADDOCK_SOURCE_DIR="${CMAKE_SOURCE_DIR}" PADDOCK_BINARY_DIR="${CMAKE_BINARY_DIR}"
      PADDOCK_FUZZ_SEEDS="${CMAKE_CURRENT_SOURCE_DIR}/fuzz_seeds")
    paddock_sanitize(${ARG_NAME}_test)
    add_test(NAME unit.${ARG_NAME} COMMAND ${ARG_NAME}_test --gtest_brief=1)
    set_tests_properties(unit.${ARG_NAME} PROPERTIES LABELS unit TIMEOUT 600
      ENVIRONMENT "UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1;GTEST_OUTPUT=xml:${CMAKE_BINARY_DIR}/test-results/")
  endif()

  if(PADDOCK_FUZZ)
    foreach(source IN LISTS ARG_FUZZ)
      get_filename_component(stem ${source} NAME_WE)
      add_executable(${ARG_NAME}_${stem} ${source})
      target_link_libraries(${ARG_NAME}_${stem} PRIVATE pd_${ARG_NAME})
      target_compile_options(${ARG_NAME}_${stem} PRIVATE -fsanitize=fuzzer,address,undefined)
      target_link_options(${ARG_NAME}_${stem} PRIVATE -fsanitize=fuzzer,address,undefined)
    endforeach()
  endif()
endfunction()

function(paddock_layer_properties target suffix uses links)
  # -iquote and not -I: src/sys must not stand in for the system's <sys/...>.
  target_compile_options(${target} PUBLIC "SHELL:-iquote ${CMAKE_SOURCE_DIR}/src"
                                          "SHELL:-iquote ${CMAKE_BINARY_DIR}/generated")
  foreach(layer IN LISTS uses)
    target_link_libraries(${target} PUBLIC pd_${layer}${suffix})
  endforeach()
  target_link_libraries(${target} PUBLIC ${links})
endfunction()

function(paddock_sanitize target)
  if(PADDOCK_SANITIZE)
    target_compile_options(${target} PRIVATE -fsanitize=${PADDOCK_SANITIZE} -fno-omit-frame-pointer
                           -fno-sanitize-recover=undefined)
    target_link_options(${target} PRIVATE -fsanitize=${PADDOCK_SANITIZE})
  endif()
  if(PADDOCK_FUZZ)  # the fuzzer is blind to what is not instrumented
    target_compile_options(${target} PRIVATE -fsanitize=fuzzer-no-link)
  endif()
endfunction()
