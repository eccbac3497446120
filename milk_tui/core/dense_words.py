"""Common words of programming and plain English, the most frequent first: what the dense notation shortens.

The order and the words are part of the notation: a text that was written with them is read with them.
"""

from __future__ import annotations

WORDS = """
the is to of and in for that it be or with as if not an are by this from on file one when object class text can string
line no name will its at all value return list which we what default only used was first has use optional so data type
given may number session set function method agent have module path code but any other should new same then bytes
before argument there instance key read prompt each where call lines must result time into turn end directory after
message more arguments called version they up you header user without two returns error than using like command facts
last case names does values empty integer do model also characters see returned current exception server them output
request need context nothing input tuple never source order out encoding fact methods test start mode every files else
here import most screen own back thread objects non true memory already next event specified size style their about
says over block once strings get both id raise leg process write would program format stream null instead answer
single filename system state part check words named don run until passed some between helper tool another doesn
response person found match attribute been left create socket dictionary because sys address always loop tui since
done defined information per character re calls entry stack example such while buffer os node host standard attributes
whether open functions either except protocol raised work table these try long add local support agents content itself
available through change option second byte now timeout make length just otherwise connection old cache containing how
keys width again running classes row frame token way were implementation parameter base many results arg escalation
too those parse index task turns following sequence body types note full float written defaults tokens headers being
python package form color item takes level changed none added runs provided position copy zero still errors made
prefix messages section expression tools kept sessions runtime options needed http want possible recall tests encoded
status tag keyword point even ends terminal field flag our could under fields needs perception items word distribution
child within primary uses right binary bit contains hook embedded shown holds variable whole everything store works
pass specific console sent created subclass said release group title closed config cannot parameters special close
count action port different matching based refactor duplicate retry queue hypothesis implement failing passing failed
suite coverage deploy deployment staging production service services schema migration migrations endpoint endpoints
handler handlers decorator customer customers payment payments orders refund refunds invoice login logout password
transaction transactions ledger report reports worker workers batch batches leak timeouts race lock locked deadlock
query queries ranking parser lexer cursor boundary boundaries grammar escape escapes sequences column columns rows
tables database databases rollback commit branch merge review upgrade downgrade dependency dependencies packages build
builds compile compiler linker warning warnings exceptions trace log logs logging metric metrics alert alerts
dashboard monitor health checks probe container cluster pod pods network connections requests responses redirect
cookie cookies client proxy upstream downstream gateway balancer certificate permission permissions account accounts
access team teams product legal design frontend backend component components button toolbar screens page pages layout
styles theme render rendering events listener callback promise async await threads processes signal signals folder
paths numbers boolean array map interface variables required missing invalid unknown identifier identifiers unique
idempotent idempotency consistent consistency valid validate validation measure measured benchmark slow fast faster
slower usage limit limits bound bounded counter sample copies delete deleted remove removed replace replaced rename
renamed move moved changes update updated fix fixed break broken bug bugs issue issues ticket story slice acceptance
decided decision decisions reason blocked question questions answers step steps plan testing unit integration fixture
fixtures mock assert assertion expected actual matches caller callers imports export exports modules library libraries
framework document documents documentation comment comments examples users people admin role roles groups search find
filter sort similar exact article articles misspell history undo redo save saved load loaded reload background
foreground application notification delay increase decreasing reached waiting offline sync conflict conflicts writer
reader notes month monthly total totals finance agree differ difference cancelled security rotate rotation expire
expires expiry refuse refused analyze extension extensions large formatter formatting modification configured
configuration environment successful success failure against during third older newer million thousand hundred fifty
thirty twenty twelve three four five six seven eight nine ten minute minutes seconds hour hours day days week weeks
morning today yesterday tomorrow longer shorter larger smaller bigger half might doing having had am who whose why
rate rates award awards points lesson lessons complete completion bonus multiplier apply applies double minimal
extract payload upload uploads download downloads image images price prices discount cart checkout shipping email
emails phone template templates forms inputs outputs select settings setting secret secrets cron job jobs schedule
scheduled scheduler trigger triggers hooks webhook webhooks retries attempt attempts backoff remote origin master main
develop feature features flags toggle rollout canary traffic latency throughput take above means unless reading place
newest top yet summary least goes static asked entries isn details something allow kind told https help real inside
calling contents record known compatibility constructor raises small extra wait your bar working stored handle parsing
multiple callable exactly semantics send future raw look exit later original contain global litellm keep whitespace
anything archive instances writing root newline times internal ctrl member exists json common space via mapping ones
directly io spaces false tags tuples started equal operation foo below blocks lists control best offset iterable
useful models hash quoted traceback exist existing ignore renderable show supported commands shape date rules platform
present info keeps necessary pair year marked core avoid including regular chunk plain fit equivalent off platformdirs
waits taken representation allowed range negative alone weight say digits live down far go parts append trailing
manager namespace stands descriptor percepts stop side normal cases urllib mailbox cut ms shared built display
previous machine starts statement prints records directories compression subprocess reference gets parsed coroutine
well actually elements wrong shows syntax claude reads know underlying writes short versions spec around blank pre
iterator provides operand come stays us ignored absolute sure distributions bricks resume pattern thing label
according appropriate yield window target gives project beginning include link looks override convert makes adds
transport signature pinned did browser cost generated unicode mark maximum starting meaning pairs less locale
generator enter counts included safe leading readable immediately very url distro conversation layer imported public
followed behavior arbitrary currently possibly opened members separator tied outside gone element references recent
rest actions parent tree others supports correct print supplied hold sets representing much inspect rtype fail
segments seen language wrapped simple integers percept script enum relative insert beside initial exponent expr engine
installed chunks lost domain max positive metadata allows decimal tried put little sign progress fails plus pending
policy automatically better begin random precision generic ended completed requires handling corresponding legs typed
enough alias define hand leave rule docs comes returning additional though converted provide visible strict cells
together accepted stdout requirement mcp follows whatever condition docstring good skip profile description omitted
doc etc literal accept nonce rather compare operator location continue markup compatible stderr split nobody occurs
shell servers earlier looked db padding install globals final expressions appname mean widget forgotten oldest came
decoded frames lambda algorithm across extended datetime memo wheel nested quote begins private subtype codes probably
push indicates interpreter checking addresses share ids height view explicitly bin won lineno partial budget
implemented several specifies associated conversion give follow pipe disable head breakpoint custom piece bits
resource diff html happens considered dir generate operations copyright pathname cached structure provider tab subject
belongs utf subclasses ratio programs round happen asyncio wrapper stdin compute appear various executed endian
abstract positional sqlite typing wrap ready becomes font really patch encode app identical finished reported sentence
worked reply received compressed held builtin heap pygments few matched unchanged separate entire indicating decode
twice slash prompts checked free prior sub lower low become breaks reserved things temporary scheme creating invariant
scope semantic explicit wrapping answered related overridden locals ensure printed formatted printable junk pool
rendered rich connect applied giving bpo backwards among revision pure fallback dev ve determined ll nums away
transcript superseded knows canvas comparison usually resulting definition high tar td compared compiled asks marks
ask disk legacy texts fresh pieces angle multi occurred audio div checker fork brick dropped segment links suffix
deprecated quotes effect enable tabs everywhere clear reach bad family leaves clean weights sources appended behind
box determine tasks remaining upper descriptors rounding textual cancel cap digest drive edge registry priority strip
env pip stay replaces dynamic bare typically debugging blocking counted specify platforms separated registered
represents auto software escalate pin debug let sum assumed recorded invariants systems creates particular numeric
longest treated speed drop stable click escaped active able modify making didn filesystem assume terminated regex
timezone chars shift delivered streams room specification sends instructions fall magic addition prevent constants
digit license brief receipt often tells span desired suitable indicate dot pop consumer interrupted happened execution
however site includes indent factory injected past wrote overflow looking children hard executable nor marker ascii
correctly shutdown indentation decoder annotations delta newlines wins require alive captured sections big problem
middle simply processing sorted threading complex handles nodes states stops instruction property breakpoints envelope
char err human handled hostname readline sockets recursive derived encodings cause adding ending abc listed decides
highlight worth undone aliases forward destination going neither buffered en filenames implements depending resolution
typ mouse forget behaviour arrives caching score accepts initialize daemon enabled alternative lookup xc barrier rowid
selection producer snapshot differences stripped updates capture period tell replacement construct described
requirements iff amount mod intended stand notice strategy decoding spinner setup restore clock loopback moment due
uuid wants dataclass tail silently skipped yields compaction acp connected vector stopped problems disabled basic
normally specifying obs dialog filters decide smallest utils logic evidence notation claimed got requested symbolic
distutils backward purpose addr join minimum defines coordinates draft proposed docstrings post meant register meta
fold init callbacks hasn pretty trying scripts further ok symlink assigned closing contained codec loader metaclass
properties red checkers nearest web assistant interrupt produced pointer appears cycle reset force aren zip cmd
clients strong controls modified higher keywords letters interpreted protocols owner captures frozen predicate beyond
candidate highest produces expanded inherited fetch reasons treat important finally guard bp fileobj unsigned reverse
center anew alt selected usable deep cycles fence copied paragraph th easy zone represent cell iteration interactive
anyway authentication general successfully chosen fullname individual creation rounded codecs heading tr timer
consolidation edit layers fetched world overwritten idea staged readers costs hint fine drawn closes vectors ever
opening produce depends builtins likely printing align defining collection comparisons selector emoji qwen inspector
remember letter lose definitions confirmation cue cleaned hex identity ts deltas verbose runner formats certain usr
loading extracted fd recursively timestamp properly specifier colon invoked direction realname fill coroutines defects
suspect edges receipts streamed passes soon markers took ways lead inline belong depth internally consumed quiet upon
previously chain detect guess animation watcher doctor learn idle lives speaks carry hit untrusted removes releases
linear insensitive candidates injection themselves repeats constant helpers unavailable years routine device var
causes occur conditions care slashes wraps namedtuple verify bases major finite places dist polygon futures pane hide
sizes act triple ordered hits proper delimiters stdio da openai proposal calendar dummy goal fits col writable detail
went mechanism building regardless execute functionality symlinks debugger ignoring wiki purposes delimiter incomplete
indented encountered sense vars iso usual consists op executor phrase posn tmux palette arrive leaving maps carries
largest importing stateless anywhere emit seed prefixed differs vs relevant switch entirely fully along compliant
unexpected latin displayed tries recommended stuff efficient xe containers interfaces thus symbol processed recursion
packed decorated performed channels lnum pickling significant cover alpha power pad defect front asynchronous footer
reject dies units ui ours documented light independent folding border pick recalled continuation belief limited
concrete almost restored resp username sometimes dicts sending keyed browsers performance suppress canonical latter
floats hashable signed discard refer ints executing generally operators inherit separators structures ssl desc
infinite expand blue collections subsequent operands nonzero virtual bottom seq fun water roaming toks rebuilt
tracebacks widgets wide folded dates channel volatile released exclude puts architecture approach keeping shouldn
estimate overhead caused rb eg statistics unsupported greater buffering resolved replacing zeros pydoc garbage divide
fn calculated deal abcd graph overload sees verb reasoning granted pytest binding mapped prefixes elsewhere repeat
near tainted lease takeaway subset dependent win choices samxu truncated terms searched taking subdirectories
preferred hack corresponds uncompressed consider indents netmask converts constructed caught generators parents
optionally modname onto importlib representable annotation acquired diagram highlighting sidebar stale explain figure
pseudo median currency demand mixed home backup contract msgspec cli finding tested dense clause medium emitted min
serialized remainder overrides think external buffers sh therefore supporting portion perform bytearray comparing
white represented describing whenever obtained central providing epoch infinity exp proxies collect graphics circle
cancellation cascade outcome startup streaming thinking crash matrix sha scan lazy atomic native receives pid compact
ran windows optimization sensitive searches finds waited direct triggered brings cleanup lets struct lib initialized
someone circular allowing routines gettext category inserted resources guaranteed wish indices enc resolve term mail
choice argspec coefficient profiler wake globs alphabet drawing pen mydata renderables believe safety heavy draw
collected parses estimated moves learned zipfile pandas sns sentences discarded filtered constraints delivery slot
caches track retrieve privacy minus accessed initialization underscore super precedence quite potentially catch
calculate floating feed alternate dotted statements universal recognized literals exits early unpickling xff
persistent locks href pager raising beta division rem autoincrement patt wd ab age collapsed kill approve remembers
paint author storage tiny rank loads minor maintained generation spans archives conditional avoids compressor acts
kernel couldn choose labels merged apart lowercase instantiation variant maintain weekday computed ranges
approximation prog tzinfo converting fractions py delimited submodules lang mro square functools maxsize comma flow
transfer unittest ellipsis coordinate outline chunked lexers auth llama route echo mid ahead dead touch editor
meanwhile reaches ordinary claim cleared claims peers concurrent git queued situation late cumulative loops designed
mostly partially gave automatic weigh manually consecutive perhaps applications mask invoke seems unpack extraction
respectively introspection dispatch gh mtime finish commonly detailed seek del ref timedelta truncating translate
convenience instantiate consume tty br cl duplicates ordering expects implementing instantiating returncode leads req
refresh msgpack quit polling listing ratios spawn routing providers nonces damaged ansi implicit driven parallel
breaking touched replay structured cwd logged bodies summarization trajectory cross math spell hands killed matter
positions xx yielding stat opens patterns github normalized entered fp logical hierarchy arch sig adjusted assuming tz
attached indexing arithmetic identify
"""
