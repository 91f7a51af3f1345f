import ArborData
import ArborMacros
import Foundation

/// The program of the tutorial, line for line; ``TutorialTests`` compares and runs it.
enum TutorialProgram {
  @Entity final class Author: ManagedObject {
    @Attribute(.unique) var name: String = ""
    @Relationship(inverse: "author", deleteRule: .cascade) var books: Set<Book>
  }

  @Entity final class Book: ManagedObject {
    var title: String = ""
    @Attribute(.indexed) var year: Int = 0
    @Relationship(inverse: "books") var author: Author?
  }

  /// Runs the program; returns the lines that it prints.
  static func run(in folder: URL) throws -> [String] {
    var printed: [String] = []
    func print(_ parts: any CustomStringConvertible...) {
      printed.append(parts.map(\.description).joined(separator: " "))
    }

    let file = folder.appending(path: "ReadingList.arbor")
    let store = try PersistentStore(for: [Author.self, Book.self], at: .file(file))
    let context = store.makeContext()

    let list = [
      ("Ursula K. Le Guin", "The Left Hand of Darkness", 1969),
      ("Ursula K. Le Guin", "The Dispossessed", 1974),
      ("Stanisław Lem", "The Futurological Congress", 1971),
    ]
    if try context.objects(Book.self).isEmpty() {
      for (name, title, year) in list {
        let book = context.insert(Book.self)
        book.title = title
        book.year = year
        book.author = try context.insertOrFetch(Author.self, where: ["name": name])
      }
      try context.commit()
    }

    let decade = 1965..<1975
    let books = try context.objects(Book.self)
      .filter("year >= \(decade.lowerBound) AND year < \(decade.upperBound)")
      .filter("author.name != nil").order(by: "year").fetch()
    for book in books { print(book.year, book.title, "by", book.author?.name ?? "nobody") }

    context.undoHistory = UndoHistory()
    books[0].title = "Winter’s King"
    context.undo()
    print(context.hasChanges ? "changed" : "as before")

    try store.check()
    let copy = folder.appending(path: "ReadingList-copy.arbor")
    try? FileManager.default.removeItem(at: copy)
    try store.copy(to: copy, compacting: true)
    print(try context.objects(Book.self).count(), "books, and a copy of them")
    store.close()
    return printed
  }
}
