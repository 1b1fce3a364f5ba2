# Made by clustergen from manifest.yaml. Changes made here are lost:
# edit the manifest and render again.
# shellcheck shell=bash disable=SC2034
drains=true
drain=(
  '[0-9]+ or more retired pages have been detected in GPU [0-9]+'
  'An excess of [0-9]+ retired pages due to DBEs'
  'had uncorrectable memory errors and row remapping failed'
  'Found [0-9]+ faulty memory elements on GPU [0-9]+'
  'Fabric Health: (Route Unhealthy|Bandwidth Degraded|Incorrect Configuration) for GPU [0-9]+'
  'GPU [0-9]+: Fabric State is (Not Started|Failed)'
  'GPU [0-9]+ requires a reset to recover from a fault'
  'GPU [0-9]+ fault may have left the OS in an inconsistent state'
  'GPU [0-9]+ operating at reduced capacity due to a fault'
)
driver=(
  'Detected [0-9]+ volatile double-bit ECC error.s. in GPU [0-9]+'
  'GPU had an uncontained error'
  'GPU [0-9]+ has fallen off the bus'
  'Detected XID (46|48|54|62|64|74|79|95|109|119|120|140|158) for GPU [0-9]+'
  'Detected fatal errors on NvSwitch [0-9]+'
)
warn=(
  'Detected more than [0-9]+ PCIe replays per minute for GPU [0-9]+'
  'pending retired page has been detected in GPU [0-9]+'
  'GPU [0-9]+ exceeded uncorrectable row remap limit'
  'GPU had a contained error'
  'Detected XID [0-9]+ for GPU [0-9]+'
  'corrupt InfoROM has been detected in GPU [0-9]+'
  'which is above the threshold'
  'Cannot reliably read the power usage for GPU [0-9]+'
  'NvLink errors on GPU [0-9]+.s NVLink which exceeds'
  'NvLink errors found occuring per second on GPU [0-9]+'
  'Detected [0-9]+ [A-Za-z ]+ NvLink errors on GPU [0-9]+.s NVLink .should be 0.'
  'Detected effective BER'
  'Detected symbol BER'
  'Fabric Health: (Route Recovery|Access Timeout Recovery) for GPU [0-9]+'
  'GPU [0-9]+: Fabric State is'
  'GPU [0-9]+ requires peer-to-peer traffic to be quiesced'
  'Detected nonfatal errors on NvSwitch [0-9]+'
)
ignore=(
  'Detected clocks event due to thermal violation in GPU [0-9]+'
  'There were thermal violations totaling'
  'Detected clocks event due to power violation in GPU [0-9]+'
  'GPU [0-9]+.s NvLink link [0-9]+ is currently down'
  'IMEX (domain|daemon) status is'
)
