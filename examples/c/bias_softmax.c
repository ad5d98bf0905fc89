/* Attention weights in C: softmax(scores + mask) on the device that the command line names. */
#include <kernelpack/kernelpack.h>

#include <stdio.h>
#include <string.h>

/* "cpu", "gpu", or "gpu:NAME" for the adapter that has NAME in its name. */
static kernelpack_status open_device(const char* name, kernelpack_device** device) {
  if (strcmp(name, "cpu") == 0) return kernelpack_open_cpu(NULL, device);
  kernelpack_gpu_options options = {.struct_size = sizeof options};
  if (strncmp(name, "gpu:", 4) == 0) options.adapter = name + 4;
  return kernelpack_open_gpu(&options, device);
}

int main(int argc, char** argv) {
  const float scores[2][4] = {{0, 1, 2, 3}, {3, 2, 1, 0}};
  const float mask[4] = {0, 0, 0, -1e9f}; /* the last key is hidden */
  float weights[2][4];
  const int64_t shape[] = {2, 4}, mask_shape[] = {1, 4};

  kernelpack_device* device = NULL;
  kernelpack_kernel* kernel = NULL;
  kernelpack_request* request = NULL;
  kernelpack_tensor *data = NULL, *bias = NULL, *output = NULL;

  /* The tensors borrow the arrays: nothing is copied. Every step is tried only if all before it went well. */
  const int failed =
      kernelpack_check_abi(KERNELPACK_ABI_VERSION) || open_device(argc > 1 ? argv[1] : "cpu", &device) ||
      kernelpack_load_kernel("com.microsoft.BiasSoftmax", NULL, &kernel) ||
      kernelpack_wrap_tensor(KERNELPACK_FLOAT32, shape, 2, scores, sizeof scores, NULL, NULL, &data) ||
      kernelpack_wrap_tensor(KERNELPACK_FLOAT32, mask_shape, 2, mask, sizeof mask, NULL, NULL, &bias) ||
      kernelpack_wrap_mutable_tensor(KERNELPACK_FLOAT32, shape, 2, weights, sizeof weights, NULL, NULL,
                                     &output) ||
      kernelpack_create_request(kernel, &request) || kernelpack_set_input(request, "data", data) ||
      kernelpack_set_input(request, "bias", bias) ||
      kernelpack_set_values(request, KERNELPACK_ATTRIBUTE, "{\"axis\": 1, \"is_inner_broadcast\": 1}") ||
      kernelpack_set_destination(request, "output", output) || kernelpack_run_request(request, device);

  if (failed) {
    fprintf(stderr, "bias_softmax: %s\n", kernelpack_get_error_report());
  } else {
    printf("%s on %s\n", kernelpack_get_kernel_op(kernel), kernelpack_get_device_description(device));
    for (int row = 0; row < 2; ++row)
      printf("%.4f %.4f %.4f %.4f\n", weights[row][0], weights[row][1], weights[row][2], weights[row][3]);
  }
  kernelpack_free_request(request);
  kernelpack_free_tensor(output);
  kernelpack_free_tensor(bias);
  kernelpack_free_tensor(data);
  kernelpack_free_kernel(kernel);
  kernelpack_free_device(device);
  return failed ? 1 : 0;
}
