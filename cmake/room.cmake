# A room is one folder of src/. Its edges are the rooms that its sources may include (design: docs/architecture.md);
# the `layering` test reads the same list from tools/layering.json.
#
#   kernelpack_room(NAME tensor SOURCES a.cpp b.cpp TESTS a_test.cpp ROOMS base LIBRARIES fmt::fmt)
#
# makes the static library kernelpack_tensor and, when tests are built, the program kernelpack_tensor_test, whose
# cases ctest lists one by one with the prefix "tensor.".
function(kernelpack_room)
  cmake_parse_arguments(ROOM "" "NAME" "SOURCES;TESTS;ROOMS;LIBRARIES" ${ARGN})
  set(target kernelpack_${ROOM_NAME})
  add_library(${target} STATIC ${ROOM_SOURCES})
  target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
  foreach(room IN LISTS ROOM_ROOMS)
    target_link_libraries(${target} PUBLIC kernelpack_${room})
  endforeach()
  target_link_libraries(${target} PUBLIC ${ROOM_LIBRARIES} PRIVATE kernelpack_warnings)
  set_property(GLOBAL APPEND PROPERTY KERNELPACK_ROOMS ${target})
  if(KERNELPACK_TESTS AND ROOM_TESTS)
    kernelpack_test(NAME ${ROOM_NAME} SOURCES ${ROOM_TESTS} LIBRARIES ${target})
  endif()
endfunction()

# A GoogleTest program kernelpack_NAME_test; its cases are listed with the prefix "NAME.". The project's root and the
# folder of shared inputs (which may be absent) are passed as the macros KERNELPACK_SOURCE_DIR and KERNELPACK_SHARED_DIR.
function(kernelpack_test)
  cmake_parse_arguments(TEST "" "NAME;TIMEOUT" "SOURCES;LIBRARIES" ${ARGN})
  set(target kernelpack_${TEST_NAME}_test)
  add_executable(${target} ${TEST_SOURCES})
  target_link_libraries(${target} PRIVATE ${TEST_LIBRARIES} kernelpack_warnings GTest::gtest GTest::gtest_main)
  target_compile_definitions(${target} PRIVATE
    KERNELPACK_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
    KERNELPACK_SHARED_DIR="${KERNELPACK_SHARED_DIR}")
  if(NOT TEST_TIMEOUT)
    set(TEST_TIMEOUT 300)
  endif()
  gtest_discover_tests(${target} TEST_PREFIX "${TEST_NAME}." DISCOVERY_MODE PRE_TEST
    PROPERTIES TIMEOUT ${TEST_TIMEOUT} LABELS ${TEST_NAME})
endfunction()
