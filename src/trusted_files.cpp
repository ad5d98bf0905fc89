#include "trusted_files.hpp"

#include <fmt/format.h>

#include "kernelpack/error.hpp"

namespace kernelpack {

void require_trusted_files(const package::Model& model) {
  if (model.metadata || model.verification_waived) return;
  throw Error(ErrorKind::integrity,
              fmt::format("The package of {} has no metadata.json, so its files cannot be verified; it runs "
                          "only with verification off",
                          model.op_id),
              model.folder.string());
}

}  // namespace kernelpack
