"""Words of which one is chosen out of several, and words that tell one subject from its like; data only.

A choice is a value: "the formatter is black" and "the formatter is ruff" can't both hold. A contrast is part of what
the sentence is about: "the iOS app uses SQLite" and "the Android app uses Room" can. Choices are divided by ``|``, the
spellings of one by ``=``.
"""

from __future__ import annotations

_CLASSES: dict[str, str] = {
    "indentation": "tabs=tab|spaces=space",
    "database": (
        "postgres=postgresql=pg|mysql|mariadb|sqlite|scylladb=scylla|cassandra|mongodb=mongo"
        "|cockroachdb=cockroach|dynamodb|oracle|sql server=mssql|duckdb|clickhouse|firestore|couchdb|neo4j"
        "|supabase|planetscale|timescaledb|bigquery|snowflake|redshift|tidb|yugabytedb|fauna|rethinkdb|firebird"
        "|aurora|surrealdb|turso|libsql|influxdb"
    ),
    "cache": "redis|memcached|valkey|keydb|dragonfly|hazelcast",
    "queue": (
        "rabbitmq|kafka|nats|sqs|celery|sidekiq|pulsar|redis streams|bullmq|activemq|redpanda|zeromq|pub/sub|rq"
        "|dramatiq"
    ),
    "python packages": "pip|poetry|pipenv|uv|conda|pdm|hatch|pip-tools|rye|pixi",
    "javascript packages": "npm|yarn|pnpm|bun",
    "build tool": "maven|gradle|make|cmake|bazel|meson|just|ant|sbt|ninja|nx|turborepo",
    "bundler": "webpack|vite|rollup|esbuild|parcel|turbopack|rspack|snowpack",
    "linter": "flake8|pylint|ruff|eslint|biome|oxlint|standardjs|tslint|golangci-lint|clippy|rubocop|stylelint",
    "formatter": "black|yapf|autopep8|prettier|dprint|gofmt|rustfmt|clang-format",
    "type checker": "mypy|pyright|pytype|pyre|basedpyright",
    "test runner": "pytest|unittest|nose|jest|vitest|mocha|jasmine|ava|playwright|cypress|selenium|puppeteer|webdriver",
    "ci": (
        "github actions|gitlab ci=gitlab-ci|jenkins|circleci|travis=travis ci|buildkite|azure pipelines"
        "|drone=drone ci|teamcity|woodpecker|bamboo|forgejo actions"
    ),
    "forge": "github|gitlab|bitbucket|gitea|codeberg|forgejo|sourcehut",
    "cloud": (
        "aws|gcp=google cloud|azure|hetzner|digitalocean|fly.io=fly|heroku|render|railway|vercel|netlify"
        "|cloudflare=cloudflare pages|linode|ovh|scaleway"
    ),
    "orchestrator": "kubernetes=k8s|nomad|docker swarm|ecs|docker compose=docker-compose|openshift",
    "containers": "docker|podman|containerd|lxc",
    "provisioning": "terraform|pulumi|opentofu|cloudformation|ansible|chef|puppet|saltstack|cdk",
    "web framework": (
        "django|flask|fastapi|starlette|litestar|express|nestjs|fastify|koa|hono|rails|sinatra|laravel|symfony"
        "|axum|actix"
    ),
    "front end": "react|vue|svelte|angular|solidjs|preact|htmx|lit|ember|qwik|alpine.js",
    "meta framework": "next.js=nextjs|nuxt|remix|sveltekit|astro|gatsby|tanstack start",
    "state": "redux|zustand|mobx|recoil|jotai|pinia|vuex",
    "css": "tailwind=tailwindcss|bootstrap|css modules|styled-components|sass=scss|less|unocss|bulma",
    "orm": "sqlalchemy|prisma|typeorm|drizzle|sequelize|peewee|tortoise|hibernate|activerecord|diesel|sqlx|gorm",
    "language": (
        "python|typescript|javascript|rust|golang|java|kotlin|c++|c#|ruby|php|swift|scala|elixir|haskell|clojure"
        "|zig|perl|objective-c|dart|lua"
    ),
    "api style": "rest=restful|graphql|grpc|soap|trpc|json-rpc",
    "data format": "json|yaml|toml|xml|csv|protobuf|msgpack=messagepack|parquet|avro|ini",
    "logging": "structlog|loguru|log4j|logback|winston|pino|zap|slog",
    "monitoring": "datadog|prometheus|new relic|grafana cloud|honeycomb|dynatrace",
    "errors": "sentry|rollbar|bugsnag|airbrake|glitchtip",
    "search": "elasticsearch|opensearch|meilisearch|typesense|algolia|solr",
    "identity": "auth0|okta|keycloak|clerk|cognito|firebase auth|authentik",
    "sign-in": "session cookies|jwt=jwts|oauth=oauth2|saml|basic auth|passkeys|api keys|mtls",
    "payment": "stripe|paypal|adyen|braintree|square|mollie|paddle",
    "mail": "sendgrid|mailgun|postmark|ses|resend|mailchimp",
    "chat": "slack|discord|teams|mattermost|zulip|matrix",
    "tracker": "jira|linear|github issues|trello|asana|shortcut|youtrack|notion|clickup",
    "docs": "sphinx|mkdocs|docusaurus|hugo|jekyll|vitepress|gitbook|confluence",
    "web server": "nginx|caddy|apache|traefik|haproxy|envoy",
    "wsgi": "gunicorn|uvicorn|uwsgi|hypercorn|waitress|granian",
    "editor": "vim|neovim|emacs|vs code=vscode=visual studio code|zed|sublime text|intellij|pycharm|helix",
    "shell": "bash|zsh|fish|powershell|nushell",
    "maps": "leaflet|mapbox|google maps|openlayers|maplibre",
    "hashing": "bcrypt|argon2=argon2id|scrypt|pbkdf2",
    "digest": "md5|sha-1=sha1|sha-256=sha256|sha-512=sha512|blake3|xxhash",
    "compression": "gzip|zstd=zstandard|brotli|lz4|snappy|bzip2",
    "identifier format": (
        "uuid=uuids=uuidv4|ulid=ulids|uuidv7|snowflake ids|nanoid|auto-increment=autoincrement|sequential ids"
    ),
    "licence": (
        "mit|apache-2.0=apache 2.0|gpl=gplv3=gpl-3.0|agpl=agplv3=agpl-3.0|bsd=bsd-3-clause|mpl=mpl-2.0|lgpl|isc"
        "|cc-by|cc-by-sa|cc0|proprietary|unlicense"
    ),
    "case": (
        "camelcase=camel case|snake_case=snake case|kebab-case=kebab case|pascalcase=pascal case|screaming_snake_case"
    ),
    "merging": "squash=squash merge=squash-merge=squash merges|rebase=rebase merge|merge commit=merge commits",
    "branching": "trunk-based=trunk based|git flow=gitflow|github flow",
    "default branch": "main|master|develop|trunk",
    "repository": "monorepo|polyrepo=multi-repo",
    "versioning": "semver=semantic versioning|calver=calendar versioning",
    "quotes": "single quotes|double quotes",
    "theme": "dark=dark mode=dark theme|light=light mode=light theme|high contrast",
    "colour": (
        "red|green|blue|yellow|orange|purple|pink|teal|grey=gray|black|white|indigo|amber|cyan|magenta|violet|brown"
    ),
    "weekday": (
        "monday=mondays=montag=montags=lunes=lundi=lundis=lunedì=maandag=måndag=понедельник=понедельникам"
        "|tuesday=tuesdays=dienstag=dienstags=martes=mardi=mardis=martedì=dinsdag=tisdag=вторник=вторникам"
        "|wednesday=wednesdays=mittwoch=mittwochs=miércoles=mercredi=mercredis=mercoledì=woensdag=onsdag=среду=средам"
        "|thursday=thursdays=donnerstag=donnerstags=jueves=jeudi=jeudis=giovedì=donderdag=torsdag=четверг=четвергам"
        "|friday=fridays=freitag=freitags=viernes=vendredi=vendredis=venerdì=vrijdag=fredag=пятницу=пятницам"
        "|saturday=saturdays=samstag=samstags=sábado=sábados=samedi=samedis=zaterdag=lördag=субботу=субботам"
        "|sunday=sundays=sonntag=sonntags=domingo=domingos=dimanche=dimanches=domenica=zondag=söndag=воскресенье"
    ),
    "rhythm": (
        "hourly|daily=every day=täglich|nightly=every night|weekly=every week=wöchentlich"
        "|biweekly=every two weeks=fortnightly|monthly=every month=monatlich|quarterly|yearly=annually"
        "|on every push=every push|on every commit|on demand|every release|continuously"
    ),
    "money": (
        "euro=euros=eur|dollar=dollars=usd|pound=pounds=gbp|franc=francs=swiss francs=chf|yen=jpy|krona=kronor=sek"
        "|zloty=pln|rupee=rupees|yuan|kroner=nok=dkk"
    ),
    "log level": "debug level|info level|warning level|error level",
    "isolation": "read committed|repeatable read|serializable=serialisable",
    "consistency": "strong consistency|eventual consistency",
    "timing": "synchronous=synchronously=sync|asynchronous=asynchronously=async",
    "loading": "lazy=lazily=lazy loading|eager=eagerly=eager loading",
    "locking": "optimistic locking|pessimistic locking",
    "paging": "offset pagination|cursor pagination|keyset pagination",
    "deployment": "blue-green=blue/green|canary|rolling=rolling update|recreate",
    "rendering": "server-side rendering=ssr|client-side rendering=csr|static generation=ssg",
    "architecture": "monolith=monolithic|microservices=microservice|serverless|modular monolith",
    "visibility": "public|private|internal",
    "spoken language": (
        "english=englisch=inglés|german=deutsch=alemán|french=französisch=français=francés"
        "|spanish=spanisch=español|italian|portuguese|dutch|polish|russian|japanese|chinese|korean|turkish|arabic"
    ),
    "length of answers": "short=brief=concise=terse|long=detailed=verbose=thorough",
    "formality": "formal|informal=casual",
    "clock": "24-hour=24h|12-hour=12h",
    "zone": "utc|local time|cet|est|pst",
    "measure": "metric|imperial",
    "size": "small|medium|large",
    "speed": "slow|fast",
    "priority": "low priority|medium priority|high priority",
    "severity": "minor|major|critical|blocker",
    "order": "ascending|descending",
    "place of work": "remote=remotely|on-site=onsite=in the office|hybrid",
    "team role": "freelancer|employee|contractor",
    "order of tests": "before merging|after merging",
    "line ends": "lf|crlf",
    "transport": "websockets=websocket|long polling=polling|server-sent events=sse|webhooks=webhook",
    "storage": "s3|gcs|minio|azure blob=azure blob storage|local disk|r2|nfs",
    "model": "opus|sonnet|haiku|gpt-4o|gpt-4|gpt-5|gemini|llama|mistral|qwen|deepseek",
    "system": "ubuntu|debian|alpine|fedora|arch|rhel|centos|rocky linux|amazon linux|nixos|distroless",
}

_CONTRASTS = (
    "ios|android|macos|windows|linux|desktop|mobile|web|tablet|browser|server|client|cli|gui|api",
    "staging|production=prod|development=dev|test=tests|testing|qa|local|preview|sandbox|ci|demo|live",
    "frontend|backend|infrastructure|middleware",
    "upload=uploads|download=downloads",
    "read=reads|write=writes",
    "request=requests|response=responses",
    "get|post|put|patch|delete",
    "unit|integration|e2e=end-to-end|smoke|load|performance|regression",
    "minimum=min=minimal|maximum=max=maximal|average|median|default",
    "internal|external",
    "first|second|third|last|next|previous",
    "primary|secondary|replica|standby|escalation",
    "input|output",
    "start|end|begin|stop",
    "inbound|outbound|incoming|outgoing",
    "eu|us|asia|europe|america|germany|france|uk",
    "weekday=weekdays|weekend=weekends",
    "admin=admins|user=users|guest=guests|customer=customers|editor=editors|member=members|owner",
    "old|new|legacy",
    "connect|idle",
    "connection|query|session|lock|transaction|handshake",
    "soft|hard",
    "upper|lower|top|bottom",
    "left|right",
    "bold|italic|underlined",
    "inside|outside",
    "above|below",
    "before|after",
    "horizontal|vertical=vertically",
    "debug|info|trace",
    "binary|text=textual",
    "header|footer|sidebar|body",
    "morning|evening|afternoon|night",
    "cpu|memory|disk|network|gpu",
    "public|private",
    "free|paid|premium|enterprise|basic|pro",
    "success|failure|error|warning",
    "import|export",
    "login|signup|logout|checkout|search|payment|billing|profile",
    "hot|cold|warm",
    "blue|green",
    "major|minor|patch",
    "manager|worker|scheduler|producer|consumer",
    "morning|noon",
    "parent|child",
    "source|target|destination",
    "day|night",
)


def _phrases(line: str) -> list[list[str]]:
    return [choice.split("=") for choice in line.split("|")]


_ALSO_WORDS = (
    "just ant ninja make rest less lit express render square teams notion linear slack shortcut matrix drone chef"
    " puppet rails flask sphinx hugo hatch apache railway echo fly ember alpine recoil state pages paddle resend"
    " zap slog arch nose ava parcel bamboo heroku aurora fauna turso poetry rye shell fish julia swift oracle dart"
    " discord zed helix fastly asana snowflake dragonfly celery pulsar compose mit es"
)
NEEDS_CAPITAL = frozenset(_ALSO_WORDS.split())
"""Choices that are ordinary words when written small."""

EXCLUSIVE = frozenset(
    f"choice:{name}"
    for name in (
        *(
            "indentation",
            "quotes",
            "line ends",
            "case",
            "theme",
            "merging",
            "branching",
            "versioning",
            "default branch",
        ),
        *("licence", "measure", "clock", "formality", "length of answers"),
    )
)
"""Classes of which one is chosen for everything: "use tabs" and "use spaces" can't both hold."""

CAPITALISED = frozenset({"choice:weekday", "choice:spoken language"})
"""Choices that are written with a capital although they are no names."""

CHOICES: dict[str, tuple[tuple[str, str], ...]] = {}
"""Spelling → its (class, choice) pairs."""
for _name, _line in _CLASSES.items():
    for _spellings in _phrases(_line):
        for _spelling in _spellings:
            CHOICES[_spelling] = (*CHOICES.get(_spelling, ()), (_name, _spellings[0]))

CONTRASTS: dict[str, tuple[tuple[int, str], ...]] = {}
"""Spelling → its (set, member) pairs."""
for _number, _line in enumerate(_CONTRASTS):
    for _spellings in _phrases(_line):
        for _spelling in _spellings:
            CONTRASTS[_spelling] = (*CONTRASTS.get(_spelling, ()), (_number, _spellings[0]))
