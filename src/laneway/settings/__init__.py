"""Every setting as data: its name in the file, its name in the environment, its type, its default, its meaning.

Precedence, strongest first: environment, `./.env`, `LANEWAY_HOME/.env`, `LANEWAY_HOME/config.yaml`, default.
Secrets live in the environment or a `.env` file only. Unknown keys are refused, with the nearest known one named.
"""

from laneway.settings.fields import Settings
from laneway.settings.sources import described, layers, variables
from laneway.settings.told import told

__all__ = ["Settings", "described", "layers", "told", "variables"]
