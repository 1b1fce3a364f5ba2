#!/usr/bin/env python3
# Made by clustergen from manifest.yaml. Changes made here are lost:
# edit the manifest and render again. Program: jobs/train_tensorflow.py
"""Example of data-parallel training with TensorFlow: one process per node with all GPUs of the node.

TF_CONFIG, which the job template sets, names the processes. Keras 2 (package tf_keras) trains; Keras 3 cannot fit a
model with this strategy. A checkpoint is written after each epoch, and the next run resumes from it.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from pathlib import Path

os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import tensorflow as tf

POLICIES = {"bf16": "mixed_bfloat16", "fp16": "mixed_float16", "fp32": "float32"}


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--steps", type=int, default=50, help="of an epoch")
    parser.add_argument("--batch", type=int, default=64, help="samples per GPU, or per process without GPUs")
    parser.add_argument("--precision", choices=POLICIES, default=os.environ.get("PRECISION", "fp32"))
    parser.add_argument("--cpu", action="store_true", help="train on CPUs, also in a job with GPUs")
    parser.add_argument("--checkpoint", type=Path, default=Path("checkpoint-tensorflow"), help="a directory")
    return parser.parse_args()


def main() -> None:
    arguments = options()
    if arguments.cpu:
        tf.config.set_visible_devices([], "GPU")
    gpus = tf.config.get_visible_devices("GPU")
    if os.environ.get("SLURM_GPUS_ON_NODE", "0") != "0" and not gpus and not arguments.cpu:
        sys.exit("this job has GPUs, but TensorFlow cannot use them; to train on CPUs nevertheless, add --cpu")
    for gpu in gpus:
        tf.config.experimental.set_memory_growth(gpu, True)
    cluster = json.loads(os.environ.get("TF_CONFIG", "{}"))
    expected = len(cluster.get("cluster", {}).get("worker", [""])) * max(len(gpus), 1)
    channel = tf.distribute.experimental.CommunicationImplementation
    used = tf.distribute.experimental.CommunicationOptions(implementation=channel.NCCL if gpus else channel.RING)
    strategy = tf.distribute.MultiWorkerMirroredStrategy(communication_options=used)
    if strategy.num_replicas_in_sync != expected:
        sys.exit(f"{expected} replicas were started, and {strategy.num_replicas_in_sync} of them would train together")

    tf.keras.mixed_precision.set_global_policy(POLICIES[arguments.precision])  # Keras scales the loss of fp16
    with strategy.scope():
        layers = [tf.keras.layers.Dense(256, activation="relu"), tf.keras.layers.Dense(1, dtype="float32")]
        model = tf.keras.Sequential([tf.keras.Input(64), *layers])
        model.compile(tf.keras.optimizers.Adam(0.001), "mse")
    index = cluster.get("task", {}).get("index", 0)
    inputs = tf.random.stateless_normal([16 * arguments.batch * expected, 64], seed=(index, 1))
    data = tf.data.Dataset.from_tensor_slices((inputs, tf.reduce_sum(inputs[:, :8], 1, keepdims=True)))
    batches = data.shuffle(1024).repeat().batch(arguments.batch * expected)
    choices = tf.data.Options()
    choices.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.DATA
    resume = tf.keras.callbacks.BackupAndRestore(str(arguments.checkpoint), delete_checkpoint=False)
    started = time.monotonic()
    run = model.fit(
        batches.with_options(choices), epochs=arguments.epochs, steps_per_epoch=arguments.steps, callbacks=[resume],
        verbose=0,
    )  # fmt: skip
    seconds = time.monotonic() - started
    if index == 0:
        done = run.history.get("loss", [])
        first = arguments.epochs - len(done)
        form = f"{strategy.num_replicas_in_sync} replicas, {arguments.precision}, epochs {first} to {arguments.epochs}"
        print(f"{form}, loss {done[-1]:.4f}, {seconds:.1f} s" if done else f"{form}: nothing left to do", flush=True)


if __name__ == "__main__":
    main()
