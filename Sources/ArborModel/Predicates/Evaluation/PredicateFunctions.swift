internal import ArborLocks

/// The Swift functions that predicates may call, by name. Process-wide.
enum PredicateFunctions {
  typealias Function = @Sendable ([PropertyValue]) -> PropertyValue

  private static let functions = Lock<[String: Function]>([:])

  static func register(_ name: String, _ function: Function?) {
    functions.withLock { $0[key(name)] = function }
  }

  static func function(named name: String) -> Function? { functions.withLock { $0[key(name)] } }

  static func unknown(_ name: String) -> String {
    let known = functions.withLock { Array($0.keys).sorted() }
    return "No function \"\(name)\" is registered. Register it with "
      + "FetchPredicate.registerFunction." + NearestName.hint(key(name), in: known)
  }

  /// Selectors end with a colon, which says nothing here.
  private static func key(_ name: String) -> String {
    String(name.reversed().drop { $0 == ":" }.reversed())
  }
}

extension FetchPredicate {
  /// Registers a function for `FUNCTION(target, 'name', …)` in predicates, in the whole process. A
  /// function of the same name is replaced.
  ///
  /// ```swift
  /// FetchPredicate.registerFunction("initials") { arguments in
  ///   guard case .string(let name) = arguments[0] else { return .null }
  ///   return .string(String(name.split(separator: " ").compactMap(\.first)))
  /// }
  /// try context.fetch(Employee.self, matching: "FUNCTION(name, 'initials') == 'AL'")
  /// ```
  ///
  /// Colons at the end of a name count for nothing. A predicate with a function that is not
  /// registered is refused by the fetch that uses it.
  ///
  /// - Parameters:
  ///   - name: The name in the quotes behind the target.
  ///   - function: What is called with the target's value and those of the arguments, once for each
  ///     record that is evaluated, on whatever thread the fetch runs. It must give one result for
  ///     the same values.
  public static func registerFunction(
    _ name: String, _ function: @escaping @Sendable (_ arguments: [PropertyValue]) -> PropertyValue
  ) {
    PredicateFunctions.register(name, function)
  }

  /// Takes a registered function back.
  public static func unregisterFunction(_ name: String) { PredicateFunctions.register(name, nil) }
}
