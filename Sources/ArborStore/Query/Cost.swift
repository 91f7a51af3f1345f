/// Units of cost: one is a row of a scan that is asked for its own values, some 25 nanoseconds. The
/// numbers are measured ones, rounded.
enum Cost {
  /// A record that is looked up by its number, where numbers are in order.
  static let lookup = 16
  /// A relationship that is followed from a row.
  static let hop = 8
  /// A look into a database for one key.
  static let seek = 8
  /// A step to the next key of an index.
  static let key = 2
  /// What costs more costs this: nested collections can ask for more than a number counts.
  static let most = Int.max / 4

  /// Two costs together.
  static func sum(_ left: Int, _ right: Int) -> Int { min(left + right, most) }

  /// So many times a cost.
  static func product(_ count: Int, _ cost: Int) -> Int {
    let (product, overflows) = count.multipliedReportingOverflow(by: cost)
    return overflows ? most : min(product, most)
  }
}
