"""Names of files and folders the guard knows: what a build brings back, what holds secrets, what guards."""

from __future__ import annotations

import re

ALWAYS_REGENERABLE = {
    "node_modules", "__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".tox", ".nox", ".venv", "venv",
    "virtualenv", ".virtualenv", ".gradle", ".next", ".nuxt", ".turbo", ".parcel-cache", ".eggs", "htmlcov",
    ".ipynb_checkpoints", ".sass-cache", ".cache", "bower_components", ".svelte-kit", ".angular", ".dart_tool",
    "DerivedData", "CMakeFiles", ".nyc_output", ".hypothesis", ".output", ".vite", ".docusaurus", ".stack-work",
    "dist-newstyle", "elm-stuff", ".zig-cache", "zig-cache", "zig-out", ".DS_Store", "_build", ".pnpm-store",
    ".yarn-cache", ".npm", "_cacache", "Caches", ".terragrunt-cache", ".scannerwork", ".coverage", ".eslintcache",
    ".rpt2_cache", ".jest-cache", ".nx", ".expo", ".astro", ".storybook-cache", "storybook-static", ".serverless",
    ".direnv", "__snapshots_tmp__", ".pytype", ".pyre", ".import_linter_cache", "Thumbs.db", ".bloop", ".metals",
}  # fmt: skip
"""Caches, build output and environments wherever they lie."""

REGENERABLE_HERE = {
    "dist", "build", "target", "out", "coverage", "obj", "tmp", "temp", ".tmp", ".temp", "_site", ".build", "builds",
    "generated", "autom4te.cache", "lib-cov", "test-results", "playwright-report", "cov", ".nyc", ".terraform",
}  # fmt: skip
"""The same inside the workspace, where these names mean build output."""

REGENERABLE_LAST = {
    "env", "cache", "Pods", "package-lock.json", "yarn.lock", "pnpm-lock.yaml", "Cargo.lock", "poetry.lock", "uv.lock",
    "composer.lock", "Gemfile.lock", "Podfile.lock", "nohup.out", "a.out", "junit.xml", "coverage.xml",
    "coverage.json", "lcov.info", "compile_commands.json", "CMakeCache.txt",
}  # fmt: skip
"""The same where they end the path: what an installer or a compiler writes anew."""

REGENERABLE_NAME = re.compile(
    r"(?i).*(\.(py[cod]|o|obj|class|gcda|gcno|gcov|lo|la|tmp|temp|sw[pon]|pid|tsbuildinfo|log|log\.\d+|log\.gz|cache|"
    r"egg-info|dSYM|elc|beam|hi|aux|toc|synctex\.gz|profraw|profdata|stackdump|rlib)|~|\.out)"
)
"""File names of build output and logs; a pattern such as `*.o` counts as well."""
REGENERABLE_PREFIX = re.compile(
    r"(cmake-build-|bazel-|build-|dist-|build_|\.coverage\.|core\.\d|npm-debug\.log)[\w.*-]*"
)
EMPTY_BY_NATURE = {"__init__.py", ".gitkeep", ".keep", "py.typed", ".nojekyll", ".gitignore"}

SECRET = re.compile(
    r"""(?ix)
      /\.ssh/(?!(known_[^/]*|config(\.d/.*)?|authorized_keys2?|allowed_signers|environment|rc)$).+
    | (^|/)id_(rsa|dsa|ecdsa|ed25519)[^/]*$
    | /\.aws/(?!config$).+
    | /\.config/gcloud/(.*credential.*|access_tokens.*|legacy.*|\*)
    | /\.azure/.*(token|msal).*
    | /\.kube/(config|[^/]*\*[^/]*)$ | /etc/kubernetes/[\w-]+\.conf$ | /etc/rancher/k3s/k3s\.yaml$
    | /\.docker/config\.json$
    | /\.(netrc|pgpass|my\.cnf|pypirc|git-credentials|vault-token|s3cfg|boto|databrickscfg|htpasswd|smbcredentials)$
    | /(home/[^/]+|Users/[^/]+|root)/\.npmrc$
    | /\.config/(gh/hosts\.ya?ml|hub|rclone/rclone\.conf|op/.*|doctl/config\.yaml|solana/id\.json)$
    | /\.(gnupg|password-store)/.+ | /keyrings/.+ | /Keychains/.+
    | ^/etc/(g?shadow|security/opasswd|krb5\.keytab)-?$ | ^/etc/ssl/private/.* | /ssh_host_[^/]*_key$
    | ^/etc/wireguard/.+ | ^/etc/NetworkManager/system-connections/.+
    | ^/(var/)?run/secrets/.+ | ^/etc/openvpn/.*\.(key|conf|auth)$ | ^/etc/letsencrypt/(live|archive)/.*privkey.*
    | (^|/)\.env(\.(?!(example|sample|template|dist|defaults?|schema|md)$)[\w-]+)*$ | (^|/)\.envrc$ | (^|/)prod\.env$
    | (^|/)(secrets?|credentials?)(\.(prod|production|local|staging))?\.(ya?ml|json|toml|env|ini|txt|properties)$
    | (^|/)(client_secret|service[-_]?account)[^/]*\.json$
    | \.(p12|pfx|jks|keystore|kdbx|ppk|asc\.key)$ | (^|/)[^/]*(private|priv|secret)[-_.]?(key)?[^/]*\.(pem|key)$
    | (^|/)[^/]*(^|[-_./])key\.pem$ | (^|/)[\w.*-]+\.key$ | (^|/)privkey[^/]*\.pem$
    | (^|/)master\.key$ | (^|/)wallet\.dat$ | /\.ethereum/keystore | /\.bitcoin/
    | (^|/)(logins\.json|key[34]\.db|signons\.sqlite|Login\ Data|cookies\.sqlite)$
    | /\.claude/\.credentials\.json$ | /\.codex/auth\.json$ | /\.gemini/oauth_creds\.json$
    | /\.laneway/(key|hooks-key|\.env)$
    | /\.terraform\.d/credentials.* | /\.cargo/credentials(\.toml)?$ | /\.gem/credentials$ | /\.m2/settings\.xml$
    | /\.composer/auth\.json$ | /\.(bash|zsh|python|psql|mysql|node_repl|sqlite)_history$ | /\.fly/config\.yml$
    """
)
"""Files whose content is a secret."""
PATTERN = re.compile("[*?[\ue000]")
"""What a path holds that may stand for several names."""
NO_SECRET = re.compile(r"(?i)\.(pub|md|example|sample|template)$|/(public|pub)[-_]?key\.(pem|key)$")
SECRET_FOLDER = re.compile(
    r"/(\.ssh|\.gnupg|\.aws|\.azure|\.kube|\.password-store|keyrings|Keychains|\.mozilla|\.config/gcloud|\.docker)(/\*)?$|"
    r"^/etc/ssl/private$|^/(var/)?run/secrets$"
)
"""Folders that hold secrets: copying, packing or searching them whole reads them."""
HOME_FOLDER = re.compile(r"^/(home/[^/]+|Users/[^/]+|root)$")
"""Folders that hold secrets among much else."""
PROCESS_MEMORY = re.compile(
    r"^/proc/(?!(self|thread-self|\$)/maps)[^/]+/(task/[^/]+/)?(environ|mem|auxv)$|^/proc/kcore$|^/dev/k?mem$"
)
SECRET_VARIABLE = re.compile(
    r"(?i)(TOKEN|SECRET|PASSW(OR)?D|API_?KEY|ACCESS_?KEY|CREDENTIAL|PRIVATE_?KEY|_PASS$|_PAT$|AUTH_KEY|ENCRYPTION_KEY)"
)

GUARD = re.compile(
    r"""(?x)
      /\.claude(/(settings[^/]*\.json|hooks(/.*)?|\*))?$ | /\.claude\.json$ | /managed-settings\.json$
    | /\.codex(/(config\.toml|hooks[^/]*|rules(/.*)?|requirements\.toml|\*))?$
    | /\.gemini(/(settings\.json|policies(/.*)?|trustedFolders\.json|\*))?$
    | /\.qwen(/settings\.json)?$ | /\.cursor(/(hooks\.json|cli[^/]*\.json|permissions\.json|hooks(/.*)?))?$
    | /opencode\.jsonc?$ | /\.aider\.conf\.ya?ml$ | /goose/config\.ya?ml$ | /\.copilot/(config|permissions)[^/]*$
    | /\.git/hooks(/.*)?$ | /\.husky(/.*)?$ | /\.githooks(/.*)?$ | /\.laneway(/.*)?$ | /\.config/laneway(/.*)?$
    """
)
"""Files that hold permissions or hooks of an agent or a repository, and the folders they live in."""

STARTUP = re.compile(
    r"""(?x)
      /\.(bashrc|bash_profile|bash_login|bash_logout|bash_aliases|profile|zshrc|zprofile|zshenv|zlogin|kshrc|cshrc
         |tcshrc|xinitrc|xprofile|xsession|pam_environment|gitconfig|inputrc|netrc|npmrc|pypirc|condarc|vimrc|tmux\.conf)$
    | /\.config/(fish/.*|autostart/.*|systemd/.*|environment\.d/.*|git/config|pip/pip\.conf)$ | /\.pip/pip\.conf$
    | /Library/Launch(Agents|Daemons)/.* | /\.ssh/(authorized_keys2?|config|rc|environment|known_hosts)$
    | /\.local/bin/.+ | /sitecustomize\.py$ | /usercustomize\.py$ | /\.config/nvim/.*
    """
)
"""Files that run or count at every login."""

SYSTEM = re.compile(
    r"/(etc|usr|bin|sbin|lib|lib32|lib64|boot|opt|var|srv|root|run|sys|proc|snap|System|Library|Applications|nix)(/.*)?$"
)
PROJECTS = re.compile(r"/(root|srv|opt|var/www|usr/local/src|usr/src)(?=/.)")
"""Folders of the system in which people keep their projects, beside each other."""
SCRATCH = re.compile(r"(/tmp|/var/tmp|/private/tmp|/private/var/tmp|/dev/shm|/run/user/\d+)(/.*)?$")
HARMLESS_DEVICE = re.compile(r"/dev/(null|zero|full|stdin|stdout|stderr|tty|fd(/\d+)?|urandom|random|pts/\d+|ptmx)$")
