internal import ArborFoundation
internal import ArborLocks

/// Lookup of the time zones that predicates name by identifier, such as `Europe/Berlin`, or by
/// offset, such as `+02:00`.
enum PredicateZones {
  private static let maximumCount = 256
  /// A cache of time zones by name, because looking one up is slower than computing with it. `nil`
  /// for unknown names.
  private static let known = Lock<[String: TimeZone?]>([:])

  /// Returns the time zone with a name, or `nil` if it doesn't exist.
  static func zone(named name: String) -> TimeZone? {
    if let zone = known.withLock({ $0[name] }) { return zone }
    let zone = offset(name).flatMap(TimeZone.init(secondsFromGMT:)) ?? TimeZone(identifier: name)
    known.withLock { known in
      if known.count >= maximumCount { known.removeAll() }
      known[name] = .some(zone)
    }
    return zone
  }

  /// Returns the work of looking up a time zone.
  static func work(ofFinding name: String) -> Int {
    let isKnown = known.withLock { $0[name] != nil }
    return (isKnown ? 100 : 200_000) + 10 * name.utf8.count
  }

  static func unknown(_ name: String) -> String {
    guard let zones = LocaleSupport.services?.timeZones else {
      return
        "ArborCore doesn't support the time zone \"\(name)\". Use an offset such as \"+02:00\", or "
        + "use the ArborData product."
    }
    return "\"\(name)\" is not a time zone. Use an identifier such as \"Europe/Berlin\", or an "
      + "offset such as \"+02:00\"." + NearestName.hint(name, in: zones)
  }

  /// Returns the offset in seconds east of UTC, or `nil` if the name isn't an offset.
  private static func offset(_ name: String) -> Int? {
    // The date is arbitrary. Only its offset is used.
    guard name.hasPrefix("+") || name.hasPrefix("-"),
      let date = ISO8601Date.parse("2001-01-01T00:00:00" + name)
    else { return nil }
    return -Int(date.timeIntervalSinceReferenceDate)
  }
}
