#!/bin/sh
# Refits the shipped profiles from the public measurements that docs/calibrating.md names:
#
#     refit_profiles.sh TRAINFRONT OPERATORS [FOLDER]
#
# OPERATORS holds gemm.csv, attention.csv, elementwise.csv, collectives.csv and mamf.csv; profiles are written into
# FOLDER (default: profiles, beside this file). Sections that no table measures stay as the program has them built in.
# The same tables give the same profiles, but for the date. Some ten minutes. A100-40 and the H100 of 500 W are scaled
# from the relatives that were fitted before.
set -eu
program=$1 operators=$2
here=$(cd "$(dirname "$0")" && pwd)
folder=${3:-$here/profiles}

fit() {
  device=$1
  shift
  echo "== $device"
  "$program" calibrate "$@" --device "$device" -o "$folder/$device.toml"
}

products="$operators/gemm.csv"
kernels="$products $operators/attention.csv $operators/elementwise.csv $operators/mamf.csv"
links="$operators/collectives.csv"
nccl="--reference aiconfigurator:nccl"

# shellcheck disable=SC2086
{
  fit a100-80gb-sxm $kernels $links $nccl
  # Training on Hopper runs FlashAttention-3; the harness with most rows runs another kernel.
  fit h100-sxm $kernels $links $nccl
  fit h100-sxm "$folder/h100-sxm.toml" "$operators/attention.csv" --reference vllm_flash_attn_fa3
  fit h200-sxm $kernels $links $nccl
  fit b200 $kernels $links $nccl
  fit gb200 $kernels $links $nccl
  fit b300 $links $nccl
  fit gb300 $links $nccl
  fit l40s $products
  fit a100-40gb-sxm "$operators/mamf.csv" --relative a100-80gb-sxm --catalog "$folder/a100-80gb-sxm.toml"
  fit h100-96gb-500w "$operators/mamf.csv" --relative h100-sxm --catalog "$folder/h100-sxm.toml"
}
