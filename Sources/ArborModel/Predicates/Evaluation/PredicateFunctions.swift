internal import ArborLocks

/// The process-wide registry of functions that predicates can call.
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

  /// Returns the key of a name, without the trailing colons of selectors.
  private static func key(_ name: String) -> String {
    String(name.reversed().drop { $0 == ":" }.reversed())
  }
}

extension FetchPredicate {
  /// Registers a function for `FUNCTION(target, 'name', …)` in predicates, for the whole process.
  /// Replaces any function with the same name.
  ///
  /// ```swift
  /// FetchPredicate.registerFunction("initials") { arguments in
  ///   guard case .string(let name) = arguments[0] else { return .null }
  ///   return .string(String(name.split(separator: " ").compactMap(\.first)))
  /// }
  /// try context.fetch(Employee.self, matching: "FUNCTION(name, 'initials') == 'AL'")
  /// ```
  ///
  /// Trailing colons of a name are ignored. A fetch throws if its predicate calls a function that
  /// is not registered.
  ///
  /// - Parameters:
  ///   - name: The name in quotes after the target.
  ///   - function: The function. It is called on the thread that runs the fetch, once for each
  ///     evaluated record, with the values of the target and the arguments. It must always return
  ///     the same result for the same values.
  public static func registerFunction(
    _ name: String, _ function: @escaping @Sendable (_ arguments: [PropertyValue]) -> PropertyValue
  ) {
    PredicateFunctions.register(name, function)
  }

  /// Unregisters a function.
  public static func unregisterFunction(_ name: String) { PredicateFunctions.register(name, nil) }
}
