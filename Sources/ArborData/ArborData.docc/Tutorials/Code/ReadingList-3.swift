import ArborData
import ArborMacros
import Foundation

@Entity final class Author: ManagedObject {
  @Attribute(.unique) var name: String = ""
  @Relationship(inverse: "author", deleteRule: .cascade) var books: Set<Book>
}

@Entity final class Book: ManagedObject {
  var title: String = ""
  @Attribute(.indexed) var year: Int = 0
  @Relationship(inverse: "books") var author: Author?
}

let folder = URL.currentDirectory()
let file = folder.appending(path: "ReadingList.arbor")
let store = try PersistentStore(for: [Author.self, Book.self], at: .file(file))
let context = store.makeContext()
