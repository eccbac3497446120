"""The built-in signals: what in a prompt's words speaks for an escalation, and what for the primary.

English defaults, as data (``semantics.md`` §8). ``[routing.signals]`` in the config adds phrases, changes
weights (0 removes one) or replaces the whole list. A phrase is matched as whole words, case ignored; ``*`` at a
word's end stands for any ending, ``…`` between words for up to four words. Three points escalate: a strong signal
does it alone (3), of the others it takes two or three that agree (2, 1).
"""

from __future__ import annotations

from msgspec import Struct


class Group(Struct, frozen=True):
    """Phrases that say the same about a prompt. The first that is found counts ``weight``, each further one half of
    it, at most two further ones."""

    name: str
    weight: float
    phrases: tuple[str, ...]


def _of(words: str) -> tuple[str, ...]:
    return tuple(phrase.strip() for phrase in words.replace("\n", " ").split("|") if phrase.strip())


GROUPS: tuple[Group, ...] = (
    Group(
        "design",
        3.0,
        _of("""
        architect | architectur* | redesign* | rearchitect* | design a* | design the | design our | design an |
        design … first | propose | proposal for | plan for | plan how | plan to | make a plan | sketch | data model
        | domain model | domain layer | how should we | how should i structure | how would you structure |
        how would you design | how would you approach | how could we | how we could | how can we make |
        which approach | what approach | best approach | best way to structure | module structure | migration path |
        migration strategy | strategy | roadmap | roll-out | rollout | permission model | split the | split this |
        split up | decouple* | decompose* | come up with | concept for | a concept | from the ground up |
        separation of concerns | suggest | outline | recommend | cleanest way | model … events | how would you |
        how would it | how would we | how do we | how do you make | make or buy | layering | fix the architecture |
        fits in | work out | lay out | plan the | where should | could … look like | look technically | structurally
        | is it better to | generali*
        """),
    ),
    Group(
        "judgement",
        3.0,
        _of("""
        trade-off* | tradeoff* | pros and cons | weigh … up | weigh … against | weigh the | compare … ways |
        compare … approaches | compare … options | alternatives | our options | recommend one | recommend … approach
        | your recommendation | consequences | failure modes | edge cases | implications | what would you do |
        what would you | what could go wrong | what can go wrong | how bad is | any good | good enough | good idea |
        defend your | convince me | tear … apart | critique | critical review | critically | reconsider | step back
        | second opinion | is it worth | should we | should this be | or should | assess | evaluate | critical look
        | be honest | what is missing | what's missing | what am i missing | hold when | hold if | holds when |
        breaks first | break first | is that acceptable | acceptable | is it safe | safe to | a good fit |
        make sense | criticise | criticize | hidden assumptions | what else could | experienced reviewer
        """),
    ),
    Group(
        "wide scope",
        3.0,
        _of("""
        the code base | whole codebase | entire codebase | whole code base | entire code base | across the codebase
        | across the code base | across the repo* | throughout | across … modules | across … services |
        across … files | whole project | entire project | whole system | all modules | all callers | all endpoints |
        all services | every module | every service | every path | everywhere | end to end | end-to-end |
        from scratch | monolith* | scattered | legacy code | dozens of | every package | every place |
        different places | all tenants | all clients | all packages | all files | everything from | every file |
        every class | every screen | the clients | several modules | many places | many files | hundreds of |
        in all cases | per team
        """),
    ),
    Group(
        "large work",
        2.0,
        _of("""
        migrate | migrate the | migrating | port the | port it | port this | rework* | refactor* | rewrite |
        restructur* | overhaul | replace our | unify | consolidate | extract … into | switch us | switch from |
        switch the | introduce | get rid of | moderni* | outgrow* | outgrown | step by step | implement a | build a
        | build an | write a … scheduler | support for multiple | backwards compatib* | backward compatib* |
        without breaking | without downtime | zero downtime | zero-downtime | keeping … working | keeping … green |
        old clients | existing users | existing customers | global state | dependency injection | plugin system |
        shared library | public api | rip out | move everything | centrali* | strict mode | work offline | plugins |
        feature flags | multi* | key rotation | from … to … in | tidy up the circular | circular import* |
        replace the … engine | the move from | crash-safe | crash safe | fault-toleran*
        """),
    ),
    Group(
        "concurrency",
        3.0,
        _of("""
        race condition* | data race* | racy | deadlock* | livelock* | lock-free | lock free | without locks |
        thread-safe | thread safe | thread safety | thread dump* | isolation level* | isolation problem | concurren*
        | at the same time | simultaneous* | two workers | two threads | two users | two people | two processes |
        many threads | several threads | multiple threads | out of order | under load | under heavy load |
        lost update* | updates get lost | starvation | double booking | reentrant | incremental | overlap* |
        half-written | another thread | in the middle of | in parallel | parallel* | interleav* | background thread
        | block each other | somebody else's | someone else's
        """),
    ),
    Group(
        "distributed",
        3.0,
        _of("""
        distributed | replica* | replication | consensus | consisten* | network split* | network partition* |
        exactly-once | exactly once | at-least-once | idempoten* | back-pressure | backpressure | leader election |
        two leaders | shard* | event-driven | event driven | event sourcing | event sourced | event-sourced |
        multi-tenan* | offline sync | real-time collaboration | conflict resolution | crdt | broker outage |
        several nodes | multiple nodes | rate limiter | second consumer | stale data | cache invalidation
        """),
    ),
    Group(
        "security",
        3.0,
        _of("""
        security review | security audit | audit the | audit our | vulnerab* | exploit* | attacker* | threat model*
        | threat-model* | timing attack* | path traversal | sql injection | injection attack* | privilege escalation
        | privileges | cryptograph* | token leakage | gdpr | penetration | pentest* | deseriali* | could someone |
        can someone | untrusted input | bypass | leak* … data | secure enough | how secure | is … secure | attacker
        | a user reach | impersonat* | escalate privileges | tamper* | forge* | leaking | rotate passwords |
        signature check | store … passwords | zip bomb
        """),
    ),
    Group(
        "rigour",
        3.0,
        _of("""
        prove | proof | proves | counterexample* | rigorous* | formally | formal | derive | complexity of |
        terminates | terminate | guarantee* | correctness | argue | is … fair | think hard | think through |
        think carefully | think about how | optimum | optimal | can never | can … ever | always find* | worst-case |
        worst case | soundness | invariants | ambiguous | probability | collide | collision* | decidable |
        deterministic | non-deterministic | upper bound | lower bound
        """),
    ),
    Group(
        "not the first try",
        3.0,
        _of("""
        still fails | still failing | still wrong | still broken | still crash* | still doesn't | still does not |
        still not | still get* | did not work | didn't work | didn't help | did not help | doesn't work either |
        tried everything | already tried | your last fix | your fix | your fixes | third time | second time |
        keeps failing | keeps coming back | for days | for two days | for hours | all day | for weeks | stuck on |
        wrong again | fails again | broken again
        """),
    ),
    Group(
        "hard to find",
        3.0,
        _of("""
        intermittent* | flaky | nobody knows | no idea why | no clue | heisenbug | investigate* | analyse the whole
        | analyze the whole | dig deep* | dig into why | get to the bottom | track … down | find the cause |
        find out why | figure out why | work out why | root cause | makes no sense | once a day | once a week |
        every now and then | from time to time | now and again | on some days | only at | only on ci |
        only in production | only behind | only with optimisations | only with optimizations | only under |
        works on my machine | works locally | don't know where | don't know why | can't see why | can't find out |
        can't figure out | can't explain | can't reproduce | no error message | nothing in the logs |
        undefined behavio* | segfault* | segmentation fault | core dump* | memory leak* | the leak | leaks memory |
        performance regression | corrupt* | data loss | drift* | why is our | mysterious* | weird* | but only |
        only from | only for | only when | only if | only after | without a trace | random order |
        don't understand why | each time i run | although | even though | even if | for no reason | out of nowhere |
        unexplained | dies | nobody can tell | don't know what | something overwrites | stay open |
        keeps running after
        """),
    ),
    Group(
        "sometimes",
        2.0,
        _of("""
        sometimes | occasionally | randomly | at random | for some customers | for some users | some customers |
        some users | in production | in prod | at month end | after a few hours | after a while | over time |
        without any error | silently | no longer
        """),
    ),
    Group(
        "misbehaves",
        1.25,
        _of("""
        hang* | freez* | crash* | stall* | duplicates | twice | truncated | lost | missing events | wrong totals |
        wrong total | differ* from | mismatch* | inconsistent | leak | pile up | grows | too low | too high | slow |
        slower | slowly | takes minutes | takes forever | takes hours | timeouts | times out | out of memory | oom |
        killed
        """),
    ),
    Group(
        "performance",
        2.0,
        _of("""
        bottleneck* | latency | throughput | p99 | p95 | quadratic | scal* | memory footprint | memory usage |
        cpu usage | optimise the | optimize the | optimise our | optimize our | speed up | faster | by half |
        caching | profil* | performance of | bring it under | bring … under | ten times | takes … seconds |
        takes … minutes | query planner | startup takes | from … minutes to | doubles with | memory use
        """),
    ),
    Group(
        "scale", 1.5, ("/\\d+(?:[.,]\\d+)?\\s?(?:M|million|billion|GB|TB)\\b/", "million*", "billion*", "huge", "heavy")
    ),
    Group(
        "hard matter",
        1.5,
        _of("""
        algorithm* | thread | threads | lock | locks | transaction* | consumer* | broker | queue | cluster |
        load balancer | tokens | encrypt* | parser | compiler | scheduler | garbage collect* |
        state machine | protocol | schema | backup* | deployment* | sync | synchroni* | undo/redo | algorithmic |
        retry logic | retries | tenants | god class | scheme | endpoint* | undo
        """),
    ),
    Group(
        "why",
        1.0,
        _of("why do | why does | why is | why are | why did | how come | what is going on | what's going on"),
    ),
    Group(
        "all of it",
        1.5,
        _of("""
        every | all the | whole | entire | each of | in this project | in all | always | never | make sure | ensure
        | carefully | thorough* | in depth | in detail | deeply | consider all
        """),
    ),
    Group(
        "review",
        2.0,
        _of("""
        review | review this | review our | review my | pull request | my pr | hidden coupling | what would you not
        | code quality | look at all | check every | go through all
        """),
    ),
    Group(
        "several steps",
        1.0,
        _of("and then | after that | afterwards | first … then | as well as | at the end | and adapt | and implement"),
    ),
    Group(
        "local verb",
        -3.0,
        _of("""
        rename | fix the typo | fix a typo | fix the spelling | fix … indentation | typo* | reformat | format the |
        format this | sort the | sort this | alphabetical order | add a docstring | write a docstring | docstring* |
        add type hints | add a comment | remove the unused | remove the duplicates | remove duplicates | remove the
        | delete the | drop the | bump | change the | set the | update the | turn this … into | turn the … into |
        turn … list into | convert this | convert the | round the | pad | replace … with | add … to | put the |
        put these | swap the | move the | move it | use | make the … visible | make the … button | capitali* |
        uppercase | lowercase | extract the … into a constant | into a constant | commit message | changelog |
        release notes | pr description | translate | shorten | summari* | proofread | paraphrase | draft | reply to
        | give me a better name | better name for | add a unit test | write a unit test | write a test | add a test
        | add a … test | cover the … with a test | mark the | pick the | create a file | handle the case | write the
        """),
    ),
    Group(
        "look-up",
        -3.0,
        _of("""
        what does | what is a | what is an | what's a | the meaning of | difference between | syntax for | syntax of
        | what port | where is | where are | where do | which file | which version | which python | which function |
        which exception | which port | how do i | how to | how can i | how many | how much | does python |
        does it have | explain this | explain what | explain the | tell me what this | remind me | eli5 | what means
        | i don't understand line | in one sentence | in two sentences | in three bullet* | in a few words |
        please just | is it possible to
        """),
    ),
    Group(
        "command",
        -3.0,
        _of("""
        run | git | show me | list all | list the | print the | grep | search for | count the | install | start the
        | stop the | restart | open the | format the code | check whether | check if | do we have | are there any |
        pull the latest | commit | push | diff
        """),
    ),
    Group(
        "small talk",
        -3.0,
        _of(
            "/\\A\\W*(?:hello|hi|hey|thanks|thank you|yes|no|ok|okay|go ahead|go on|continue)(?:\\W+\\w+){0,3}\\W*\\Z/"
        ),
    ),
)
