# Flags and helper programs that hold for every target.
add_compile_options(-Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Werror=return-type
                    -Werror=unused-result -Wno-missing-field-initializers)
# -O3 buys nothing here and costs a third more build time; g++ 12 sees uninitialised members in
# moved-from variants when it inlines (GCC bug 105562 and kin).
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_compile_options($<$<CONFIG:Release>:-Wno-maybe-uninitialized>)
endif()
# PD_TRY is a statement expression, which -Wpedantic knows under another name in each compiler.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_compile_options(-Wno-pedantic)
  if(CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    add_compile_options(-Wno-restrict)  # false for `"x" + std::string` at -O2 (GCC bug 105651)
  endif()
else()
  add_compile_options(-Wno-gnu-statement-expression)
endif()
add_compile_definitions(_GNU_SOURCE _FILE_OFFSET_BITS=64)

# Most of a file's time goes into the headers that its neighbours include as well: a batch costs a third
# of what its files do, and needs a gigabyte. tools/check_names.py keeps what is private to a file apart.
if(PADDOCK_UNITY)
  set(CMAKE_UNITY_BUILD ON)
  set(CMAKE_UNITY_BUILD_BATCH_SIZE 16)
endif()

find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_C_COMPILER_LAUNCHER ${CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
endif()
find_program(MOLD mold)
if(MOLD)
  add_link_options(-fuse-ld=mold)
endif()
