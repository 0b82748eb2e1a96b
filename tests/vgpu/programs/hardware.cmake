# Programs whose answers are those of an H200 or an H100.
vgpu_program(api_errors api_errors.cu)
vgpu_test(api_errors --check=none -- api_errors)
vgpu_program(clusters clusters.cu ARCHITECTURES 90)
vgpu_test(clusters -- clusters)
vgpu_program(tensor_maps tensor_maps.cu ARCHITECTURES 90)
vgpu_test(tensor_maps -- tensor_maps)
vgpu_program(im2col_maps im2col_maps.cu ARCHITECTURES 90)
vgpu_test_both(im2col_maps --exit 86 -- im2col_maps)
# Rare instructions and NaN, sines: the results of an H100 or an H200.
vgpu_program(measured measured.cu ARCHITECTURES 90)
vgpu_test_both(measured --silent -- measured ${here}/measured.hopper)

foreach(name textures surfaces texture_errors texture_rules)
  vgpu_program(${name} ${name}.cu ARCHITECTURES 90)
endforeach()
# as old programs use them
target_compile_options(vgpu_program_texture_errors PRIVATE -Wno-deprecated-declarations)
# What an H100 printed (<program>.h100), but for the lines found to differ
# (docs/virtual-gpu/execution.md).
function(vgpu_like_h100 name program inexact)
  foreach(engine sass ptx)
    vgpu_python(${name}.${engine} like_hardware.py $<TARGET_FILE:vgpu>
      $<TARGET_FILE:vgpu_program_${program}> ${here}/${program}.h100 --except ${inexact}
      --engine ${engine} ${ARGN})
  endforeach()
endfunction()
vgpu_test_both(texture_errors -- texture_errors)
vgpu_like_h100(textures textures "$.")
vgpu_like_h100(surfaces surfaces "mipmap .* 3 gradient")
# Seed 1 is the one that the rules were found with, seed 3 one that they were checked with.
set(inexact_rules "sums 3D f(16|32)x1 w|sums 3D f16x1 near|sums 3D .*sRGB|gradient")
vgpu_like_h100(texture_rules.1 texture_rules ${inexact_rules} --argument 1 --column 0)
vgpu_like_h100(texture_rules.3 texture_rules ${inexact_rules} --argument 3 --column 1)

# What is reported of textures and surfaces.
vgpu_program(images images.cu OPTIONS -lineinfo)
vgpu_test_both(images --silent --check=all -- images)
vgpu_test_both(images.freed --exit 86 --stderr "use after free: read of 4 bytes"
  --stderr "at (tex|TEX)\\." -- images freed)
vgpu_test_both(images.destroyed --exit 86 --stderr "0x1 is no texture object" -- images destroyed)
vgpu_test_both(images.kind --exit 86 --stderr "0x2 is no texture object" -- images kind)
vgpu_test_both(images.unwritten --check=init --exit 86 --stderr "uninitialized read: .*4 bytes"
  -- images unwritten)
vgpu_test_both(images.outside --exit 86 --stderr "out of bounds: access outside a surface"
  --stderr ".148, 0, 0., layer 0, of 37 x 19 x 1 elements of 4 bytes" -- images outside)
