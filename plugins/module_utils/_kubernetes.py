# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which Kubernetes API, with which credentials. Private: not for use outside of the collection."""

from __future__ import annotations

import os
import traceback
from collections.abc import Mapping
from typing import Any

try:
    from kubernetes import client as kubernetes_client
    from kubernetes import config as kubernetes_config
except ImportError:
    kubernetes_client = None
    KUBERNETES_ERROR = traceback.format_exc()
else:
    KUBERNETES_ERROR = None

# The variables that kubernetes.core reads, so that one credential of AWX serves both.
ENVIRONMENT = {"kubeconfig": "K8S_AUTH_KUBECONFIG", "context": "K8S_AUTH_CONTEXT", "host": "K8S_AUTH_HOST", "token": "K8S_AUTH_API_KEY",
               "ca": "K8S_AUTH_SSL_CA_CERT", "verify": "K8S_AUTH_VERIFY_SSL"}


def kubernetes_configuration(kubeconfig: str | None, context: str | None, environ: Mapping[str, str] | None = None) -> Any:
    """A ``kubernetes.client.Configuration``: by what is given, else by the environment, else by the usual file, else as a pod does.

    Raises ``kubernetes.config.ConfigException``. Must not be called without the library.
    """
    environ = os.environ if environ is None else environ
    found = {name: environ.get(variable) or None for name, variable in ENVIRONMENT.items()}
    made = kubernetes_client.Configuration()
    if found["host"] and not kubeconfig and not context:
        made.host, made.ssl_ca_cert = found["host"].rstrip("/"), found["ca"]
        made.verify_ssl = str(found["verify"]).lower() not in ("false", "no", "0")
        made.api_key = {"authorization": f"Bearer {found['token']}"} if found["token"] else {}
        return made
    kubeconfig, context = kubeconfig or found["kubeconfig"], context or found["context"]
    usual = [os.path.expanduser(path) for path in (environ.get("KUBECONFIG") or "~/.kube/config").split(os.pathsep) if path]
    if kubeconfig or context or any(os.path.exists(path) for path in usual):
        path = os.path.expanduser(kubeconfig) if kubeconfig else os.pathsep.join(usual)
        kubernetes_config.load_kube_config(config_file=path, context=context, client_configuration=made, persist_config=False)
    else:
        kubernetes_config.load_incluster_config(client_configuration=made)
    return made
