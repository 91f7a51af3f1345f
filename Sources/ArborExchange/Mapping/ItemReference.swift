import ArborFoundation
import ArborJSON
import ArborModel

/// Connects a relationship with objects to which an item refers by key.
final class ItemReference {
  private var template: ReferenceTemplate
  private(set) var routes: [ItemRoute]
  /// The routes to the key, or `nil` if it is composed of several values.
  let plainRoutes: [ItemRoute]?
  /// The entity of the objects.
  let entity: EntitySchema
  /// The attribute that identifies the objects.
  let attribute: AttributeCoder
  /// Whether an unknown key inserts an object.
  let createsMissing: Bool
  /// Whether one of the routes has found a value in one of the outermost items.
  private(set) var isMet = false

  init(
    _ template: ReferenceTemplate, to entity: EntitySchema, by attribute: AttributeCoder,
    createsMissing: Bool
  ) {
    self.template = template
    self.entity = entity
    self.attribute = attribute
    self.createsMissing = createsMissing
    plainRoutes = template.plainRoutes
    routes = template.routes
  }

  /// Looks up the first keys of the routes, once for many items.
  func prepare(_ keys: JSONKeyTable) {
    template.prepare(keys)
    routes = template.routes
  }

  /// Adds the references of the most recently scanned item to a plan.
  ///
  /// - Parameters:
  ///   - plainNode: The tape index of the value at the ``plainRoutes``, or 0 if it is missing.
  ///   - table: The table for looking up the keys.
  func link(
    of item: JSONNode, at relationship: Int, plainNode: Int32, _ table: IdentityTable,
    in plan: ExchangePlan, _ scanner: ItemScanner
  ) -> ExchangePlan.Link {
    var link = ExchangePlan.Link(relationship: Int32(relationship))
    func begin(at node: JSONNode) {
      link.content = .members
      link.isDeferred = true
      link.node = Int32(node.tapeIndex)
      link.first = Int32(plan.members.count)
    }
    func add(_ keys: some Collection<IdentityKey?>) {
      plan.members.append(.named(plan.enterName(keys, in: table)))
      link.count += 1
    }
    func clear(at node: JSONNode) {
      link.content = .null
      link.node = Int32(node.tapeIndex)
    }
    if plainRoutes != nil {
      guard plainNode > 0 else { return link }
      let node = JSONNode(document: item.document, tapeIndex: Int(plainNode))
      if node.isNull {
        clear(at: node)
        return link
      }
      begin(at: node)
      if node.kind == .array {
        for element in node.items where !element.isNull { add(CollectionOfOne(key(element))) }
      } else {
        add(CollectionOfOne(key(node)))
      }
      return link
    }
    let values = routes.compactMap(scanner.value(of:))
    if values.contains(where: \.isNull) {
      clear(at: item)
    } else if let list = values.first(where: { $0.kind == .array }) {
      begin(at: list)
      for element in list.items where !element.isNull {
        add(template.keys(element: element, scanner.value(of:)).map(key))
      }
    } else {
      let keys = template.keys(element: nil, scanner.value(of:))
      guard !keys.isEmpty else { return link }
      begin(at: item)
      add(keys.map(key))
    }
    return link
  }

  /// Records whether the most recently scanned item has one of the values that keys are composed of.
  func noteUse(_ scanner: ItemScanner) {
    if !isMet { isMet = routes.contains { scanner.value(of: $0) != nil } }
  }

  /// The names of the values that keys are composed of, as in the template.
  var names: [String] { routes.map(\.description) }

  /// Returns the identity for a key in a string, or `nil` if no object can have it.
  private func key(_ text: String) -> IdentityKey? {
    attribute.key(spelledAs: text).flatMap(IdentityKey.init)
  }

  private func key(_ node: JSONNode) -> IdentityKey? {
    if case .integer64 = attribute.type, let number = node.int64 { return .number(number) }
    if node.kind == .number { return attribute.key(node).flatMap(IdentityKey.init) }
    return node.string.flatMap(key)
  }
}

/// A template that composes the key of a relationship's target from an item's values.
///
/// ```
/// {departmentID}                        the value of a key
/// {code/^[A-Z]+/}                       the first match of a regular expression in the value
/// {parent} | {code/^[A-Z]+/}-{parent}   the first of these keys that an object has
/// ```
struct ReferenceTemplate {
  private enum Part {
    case text(String)
    /// The value of the first route that has one.
    case value([ItemRoute], (any BoundedExpression)?)
  }

  private var alternatives: [[Part]]

  /// - Returns: `nil` if the text is malformed.
  /// - Throws: ``ArborError`` `unsupported` for a regular expression if the program doesn't include
  ///   ``LocaleServices``.
  init?(_ text: String) throws(ArborError) {
    var alternatives: [[Part]] = []
    var parts: [Part] = []
    var rest = text[...]
    while let next = rest.first {
      if next == "{" {
        guard let part = try Self.value(&rest) else { return nil }
        parts.append(part)
      } else if next == "|" {
        alternatives.append(parts)
        parts = []
        rest.removeFirst()
      } else {
        let literal = rest.prefix { $0 != "{" && $0 != "|" }
        rest = rest[literal.endIndex...]
        parts.append(.text(String(literal.trimmingSpace)))
      }
    }
    alternatives.append(parts)
    let haveValues = alternatives.allSatisfy { parts in
      parts.contains { if case .value = $0 { true } else { false } }
    }
    guard haveValues else { return nil }
    self.alternatives = alternatives
  }

  /// Parses `{key}` or `{key/expression/}` at the beginning of a string. Returns `nil` if it is
  /// malformed.
  private static func value(_ text: inout Substring) throws(ArborError) -> Part? {
    text.removeFirst()
    let name = text.prefix { $0 != "}" && $0 != "/" }
    let routes = ItemRoute.alternatives(String(name))
    text = text[name.endIndex...]
    var expression: (any BoundedExpression)?
    if text.first == "/" {
      guard let end = text.firstRange(of: "/}") else { return nil }
      let pattern = String(text[text.index(after: text.startIndex)..<end.lowerBound])
      let services = try LocaleSupport.services(for: "regular expressions in ImportReference")
      expression = try? services.expression(pattern, ignoresCase: false)
      guard expression != nil else { return nil }
      text = text[end.lowerBound...].dropFirst()
    }
    guard text.first == "}", !routes.isEmpty else { return nil }
    text.removeFirst()
    return .value(routes, expression)
  }

  /// The routes to the values that keys are composed of.
  var routes: [ItemRoute] {
    alternatives.joined().flatMap { part -> [ItemRoute] in
      if case .value(let routes, _) = part { routes } else { [] }
    }
  }

  /// The routes of a template that consists of a single key, or `nil` for any other template.
  var plainRoutes: [ItemRoute]? {
    guard alternatives.count == 1, alternatives[0].count == 1,
      case .value(let routes, nil) = alternatives[0][0]
    else { return nil }
    return routes
  }

  /// Looks up the first keys of the routes, once for many items.
  mutating func prepare(_ keys: JSONKeyTable) {
    for alternative in alternatives.indices {
      for part in alternatives[alternative].indices {
        guard case .value(let routes, let expression) = alternatives[alternative][part] else {
          continue
        }
        alternatives[alternative][part] = .value(routes.map { $0.prepared(keys) }, expression)
      }
    }
  }

  /// Returns the keys of an item in order of preference, or an empty array if required values are
  /// missing. `element` replaces a list among the values found by `value`.
  func keys(element: JSONNode?, _ value: (ItemRoute) -> JSONNode?) -> [String] {
    alternatives.compactMap { parts in
      var key = ""
      for part in parts {
        switch part {
        case .text(let text): key += text
        case .value(let routes, let expression):
          guard var node = routes.lazy.compactMap(value).first else { return nil }
          if node.kind == .array, let element { node = element }
          guard let text = node.string ?? node.number?.text,
            let match = Self.match(of: expression, in: text)
          else { return nil }
          key += match
        }
      }
      return key
    }
  }

  private static func match(
    of expression: (any BoundedExpression)?, in text: String
  ) -> String? {
    guard let expression else { return text }
    guard case .found(let range) = expression.firstMatch(in: text, anchored: false, while: { true })
    else { return nil }
    let utf16 = Array(text.utf16)
    return String(decoding: utf16[range], as: UTF16.self)
  }
}
