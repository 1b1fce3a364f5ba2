"""Records what the BMCs of the play's nodes show of their machines, each in the directory of its node."""

from __future__ import annotations

from ansible.errors import AnsibleConnectionFailure

from ansible_collections.clustergen.cluster.plugins.plugin_utils import recording
from ansible_collections.clustergen.cluster.plugins.plugin_utils.asking import Asking


class ActionModule(Asking):
    """One module asks all BMCs, from one host. What does not answer is recorded as such, and is no failure."""

    _VALID_ARGS = frozenset(("directory", "user", "password", "check_certificates", "seconds"))

    def run(self, tmp=None, task_vars=None):
        from clustergen.catalogue.firmware import attribute_patterns

        result = super().run(tmp, task_vars)
        hosts = task_vars["hostvars"]
        bmcs = {name: hosts[name].get("bmc_address") for name in task_vars["ansible_play_hosts_all"]}
        bmcs = {name: str(address) for name, address in bmcs.items() if address}
        if not bmcs:
            return dict(result, changed=False, msg="no node has a BMC in the manifest")
        arguments = {key: value for key, value in self._task.args.items() if key != "directory"}
        arguments |= {"bmcs": bmcs, "attributes": sorted(attribute_patterns())}
        try:
            answer = self.ask("bmc_machines", arguments, task_vars)
        except AnsibleConnectionFailure as err:
            answer = {"msg": str(err)}
        machines = answer.get("machines")
        if machines is None:
            message = " ".join(str(answer.get("msg") or "no answer").split())[:300]
            asked_from = self._task.delegate_to or task_vars["inventory_hostname"]
            machines = {name: {"failure": f"{asked_from} could not ask its BMC: {message}"} for name in bmcs}
        for name, machine in machines.items():
            place = recording.node_directory(self._task.args.get("directory"), name)
            attributes = machine.pop("attributes", None)
            recording.add(place, "bmc.json", machine)
            if attributes:
                recording.add(place, "redfish-bios.json", {"Attributes": attributes})
        silent = sum("failure" in machine for machine in machines.values())
        result.update(changed=False, msg=f"{len(machines) - silent} of {len(machines)} BMCs recorded")
        return result
