# Warnings and sanitizers of our own targets; never passed on to users of the library.
add_library(kernelpack_warnings INTERFACE)
target_compile_options(kernelpack_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor -Woverloaded-virtual -Wundef)
if(KERNELPACK_WERROR)
  target_compile_options(kernelpack_warnings INTERFACE -Werror)
endif()
if(KERNELPACK_SANITIZE)
  add_compile_options(-fsanitize=${KERNELPACK_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${KERNELPACK_SANITIZE})
endif()
