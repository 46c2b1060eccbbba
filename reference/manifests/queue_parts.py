"""Parts of queues.yaml that are checked as YuniKorn checks them but have no place in ``Cluster``: limits, placement
rules, access control, child templates, and properties other than the sort policy.

Source: core's configs package (config.go for the keys, configvalidator.go for the rules).
"""

from __future__ import annotations

import re
from typing import Final

from reference.cluster.resources import NOTHING, Resources
from reference.manifests.document import Field
from reference.manifests.notices import Notices
from reference.manifests.quantity import INT64_MAX, QuantityError, yunikorn_amount

SORT_POLICY: Final = "application.sort.policy"
UINT64_MAX: Final = 2 * INT64_MAX + 1

_FENCE: Final = ("default", "fence")
_CHOICES: Final[dict[str, tuple[str, ...]]] = {
    SORT_POLICY: ("fifo", "fair", "stateaware"),
    "application.sort.priority": ("enabled", "disabled"),
    "application.unschedasks.backoff": (),
    "application.unschedasks.backoff.delay": (),
    "priority.policy": _FENCE,
    "priority.offset": (),
    "preemption.policy": (*_FENCE, "disabled"),
    "preemption.delay": (),
    "quota.preemption.delay": (),
}
_DURATION: Final = re.compile(r"[-+]?(0|([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|ms|s|m|h))+")
_INTEGER: Final = re.compile(r"[-+]?[0-9]{1,10}")
_USER: Final = re.compile(r"[_a-zA-Z][a-zA-Z0-9:_.@-]*\$?")
_GROUP: Final = re.compile(r"[_a-zA-Z][a-zA-Z0-9:_.-]*")
_RULE: Final = re.compile(r"[_a-zA-Z][a-zA-Z0-9_]*")


def only_keys(field: Field, *known: str) -> None:
    """Refuses other members: YuniKorn decodes its configuration strictly."""
    for key in field.mapping():
        if key not in known:
            expected = f"one of {', '.join(known)}"
            raise field.child(key, None).error(expected, f"the unknown key {key!r}", of_key=True)


def queue_resources(field: Field | None, notices: Notices) -> Resources:
    """Amounts of a queue or limit: ``{vcore: 10, memory: 4G}``."""
    amounts: dict[str, int] = {}
    for name, quantity in field.members("a mapping of resources to quantities") if field else ():
        text = quantity.scalar("a quantity such as 10 or 4G")
        try:
            amount = yunikorn_amount(text, name)
        except QuantityError as error:
            raise quantity.error(error.expected, error.problem) from None
        if name == "cpu":
            notices.add(quantity, "'cpu' limits nothing: YuniKorn counts processors as 'vcore'; dropped", of_key=True)
        else:
            amounts[name] = amount
    return Resources(amounts)


def count_of(field: Field | None) -> int:
    """``maxapplications``: 0, the default, is no limit."""
    return field.integer(0, UINT64_MAX, "a whole number, 0 or more") if field else 0


def flag(field: Field | None) -> bool:
    """A boolean of the configuration, with the words that its YAML reader takes for one."""
    if field is None:
        return False
    text = field.scalar("true or false").lower()
    if text not in ("true", "yes", "on", "y", "false", "no", "off", "n"):
        raise field.error("true or false")
    return text in ("true", "yes", "on", "y")


def read_properties(field: Field | None, notices: Notices) -> dict[str, str]:
    """The properties of a queue; an unknown name or value is an error."""
    result: dict[str, str] = {}
    for name, value in field.members() if field else ():
        if name not in _CHOICES:
            raise value.error(f"one of {', '.join(_CHOICES)}", f"the unknown queue property {name!r}", of_key=True)
        text = value.scalar("text")
        _check_property(name, text, value)
        if name != SORT_POLICY and text not in ("default", "0", "0s"):
            notices.add(value, f"the property {name} is not modelled: dropped", name)
        result[name] = text
    return result


def _check_property(name: str, text: str, value: Field) -> None:
    choices = _CHOICES[name]
    if choices and text.lower() not in choices:
        raise value.error(f"{', '.join(choices[:-1])} or {choices[-1]}")
    if name.endswith("delay") and not _DURATION.fullmatch(text):
        raise value.error("a duration such as 30s")
    if name in ("priority.offset", "application.unschedasks.backoff") and not _INTEGER.fullmatch(text):
        raise value.error("a whole number")


def check_limits(
    limits: Field | None, notices: Notices, queue_max: Resources = NOTHING, queue_applications: int = 0
) -> None:
    """Limits of users and groups in a queue: checked against the queue, then dropped with a warning."""
    seen: dict[str, set[str]] = {"users": set(), "groups": set()}
    for limit in limits.elements() if limits else []:
        only_keys(limit, "limit", "users", "groups", "maxresources", "maxapplications")
        for kind, pattern in (("users", _USER), ("groups", _GROUP)):
            for each in limit.list_of(kind):
                _check_member(each, each.string(), kind, pattern, seen[kind])
        if not limit.list_of("users") and not limit.list_of("groups"):
            raise limit.error("at least one user or group", "a limit for nobody")
        if seen["groups"] == {"*"}:
            raise limit.error("a named group beside the wildcard", "only the wildcard group")
        resources, applications = limit.get("maxresources"), limit.get("maxapplications")
        amounts = queue_resources(resources, notices)
        if resources and amounts and amounts.is_zero():
            raise resources.error("an amount above 0", "only zeros")
        if amounts.is_zero() and count_of(applications) == 0:
            raise limit.error("maxresources or maxapplications above 0", "a limit of nothing")
        if resources and not amounts.fits_in_limit(queue_max):
            raise resources.error("no more than the queue's max", "a limit above the queue's max")
        if applications and queue_applications and count_of(applications) > queue_applications:
            raise applications.error(f"at most {queue_applications}, the queue's maxapplications")
        notices.add(limit, "limits of users and groups are not modelled: dropped", "limits")


def _check_member(field: Field, name: str, kind: str, pattern: re.Pattern[str], seen: set[str]) -> None:
    if name != "*" and not pattern.fullmatch(name):
        raise field.error(f"a name of {kind} or *")
    if name in seen:
        raise field.error("each name once", f"{name!r} a second time")
    if "*" in seen:
        raise field.error("the wildcard last", f"{name!r} after the wildcard *")
    seen.add(name)


def check_placement_rules(rules: Field | None, notices: Notices) -> None:
    """Placement rules: checked, then dropped; an application goes where its queue label says."""
    for rule in rules.elements() if rules else []:
        _check_rule(rule)
    if rules and rules.elements():
        notices.add(rules, "placement rules are not modelled: the queue that a pod names is taken", "placementrules")


def _check_rule(rule: Field) -> None:
    for _ in range(100):
        only_keys(rule, "name", "create", "filter", "parent", "value")
        name = rule.need("name", "the name of a placement rule")
        if not _RULE.fullmatch(name.string()):
            raise name.error("the name of a placement rule")
        flag(rule.get("create"))
        chosen = rule.get("filter")
        if chosen:
            only_keys(chosen, "type", "users", "groups")
            kind = chosen.get("type")
            if kind and kind.string().lower() not in ("", "allow", "deny"):
                raise kind.error("allow or deny")
        value, parent = rule.get("value"), rule.get("parent")
        if value:
            value.scalar("text")
        if parent is None:
            return
        rule = parent
    raise rule.error("fewer than 100 nested parent rules", "deeper ones")


def check_access(queue: Field, notices: Notices) -> None:
    """adminacl and submitacl: ``*``, or users and groups separated by one space; others than ``*`` are dropped."""
    for kind in ("adminacl", "submitacl"):
        acl = queue.get(kind)
        words = acl.scalar("text").split() if acl else []
        if acl and len(words) > 2:
            raise acl.error("users and groups, separated by a single space")
        if acl and words not in ([], ["*"]):
            notices.add(acl, f"{kind} is not modelled: everyone may use the queue", kind)


def check_child_template(template: Field | None, notices: Notices) -> None:
    """childtemplate: the settings of queues made at run time, which ``Cluster`` does not have."""
    if template is None:
        return
    only_keys(template, "maxapplications", "properties", "resources")
    count_of(template.get("maxapplications"))
    read_properties(template.get("properties"), notices)
    resources = template.get("resources")
    if resources:
        only_keys(resources, "guaranteed", "max")
        queue_resources(resources.get("guaranteed"), notices)
        queue_resources(resources.get("max"), notices)
    notices.add(template, "childtemplate is not modelled: queues made at run time are not known", "childtemplate")
